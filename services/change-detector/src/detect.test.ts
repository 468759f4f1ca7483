import { describe, expect, test } from "@jest/globals";
import type { FieldChange } from "@vvs/kafka";
import { type Baseline, type Detection, detect, type Outcome } from "./detect.ts";

const inputs = Buffer.from("uei");
const active = {
  registration_status: "active",
  expiration_date: "2027-01-31",
  legal_name: "ACME WIDGETS LLC",
  cage: "1ABC2",
  entity_type: "Business or Organization",
};

function sam(status: Outcome["status"], facts: Outcome["facts"], reason = ""): Outcome {
  return { check: "sam_registration", status, reason, inputsFingerprint: inputs, facts, withdrawnLoads: [] };
}

function tin(status: Outcome["status"], reason = "", fingerprint: Uint8Array = inputs, facts = {}): Outcome {
  return { check: "tin_match", status, reason, inputsFingerprint: fingerprint, facts, withdrawnLoads: [] };
}

const withTin = (tinHash: string, facts: Outcome["facts"], fingerprint: Uint8Array = inputs): Outcome => ({
  ...tin("pass", "", fingerprint, facts),
  tinFingerprint: Buffer.from(tinHash),
});

const other = Buffer.from("other");
const asked = { tin: "****9360", name: "Acme LLC" };

const at = new Date("2026-11-22T08:00:00Z");

/** Runs 1, 2, …: returns the result of the last one. */
function lastOf(...outcomes: Outcome[]): Detection {
  let baseline: Baseline | undefined;
  let last: Detection = { baseline: undefined, changes: [] };
  outcomes.forEach((outcome, index) => {
    last = detect(baseline, { seq: index + 1, at }, outcome);
    baseline = last.baseline ?? baseline;
  });
  return last;
}

const change = (field: string, previous: string | null, current: string | null): FieldChange => ({
  field,
  previous,
  current,
});

const rows: [name: string, outcomes: Outcome[], changes: FieldChange[]][] = [
  ["the first answer is silent", [sam("pass", active)], []],
  ["the same answer again is silent", [sam("pass", active), sam("pass", active)], []],
  [
    "a field that the baseline lacks is taken over in silence, and its next change is reported",
    [
      sam("pass", active),
      sam("pass", { ...active, exclusion_effect: "product" }),
      sam("pass", { ...active, exclusion_effect: "" }),
    ],
    [change("sam_registration.exclusion_effect", "product", null)],
  ],
  [
    "an effect that is first known is no change",
    [sam("pass", active), sam("pass", { ...active, exclusion_effect: "product" })],
    [],
  ],
  [
    "a restriction of products that begins changes nothing else",
    [sam("pass", { ...active, exclusion_effect: "" }), sam("pass", { ...active, exclusion_effect: "product" })],
    [change("sam_registration.exclusion_effect", null, "product")],
  ],
  ["an error is silent", [sam("pass", active), sam("error", {}, "providers_failed")], []],
  ["errors before the first answer leave it silent", [sam("error", {}), sam("error", {}), sam("pass", active)], []],
  ["an error between equal answers changes nothing", [sam("pass", active), sam("error", {}), sam("pass", active)], []],
  [
    "a registration that expires",
    [sam("pass", active), sam("fail", { ...active, registration_status: "expired", expiration_date: "2025-01-31" })],
    [
      change("sam_registration.status", "pass", "fail"),
      change("sam_registration.registration_status", "active", "expired"),
      change("sam_registration.expiration_date", "2027-01-31", "2025-01-31"),
    ],
  ],
  [
    "a change across an error is compared with the last answer",
    [sam("pass", active), sam("error", {}), sam("pass", { ...active, cage: "9ZZZ9" })],
    [change("sam_registration.cage", "1ABC2", "9ZZZ9")],
  ],
  [
    "name and entity type are watched",
    [sam("pass", active), sam("pass", { ...active, legal_name: "ACME INC", entity_type: "Federal" })],
    [
      change("sam_registration.legal_name", "ACME WIDGETS LLC", "ACME INC"),
      change("sam_registration.entity_type", "Business or Organization", "Federal"),
    ],
  ],
  [
    "a value that a provider reports as removed becomes null",
    [sam("pass", active), sam("pass", { ...active, cage: "" })],
    [change("sam_registration.cage", "1ABC2", null)],
  ],
  [
    "a value that appears comes from null",
    [sam("pass", { ...active, cage: "" }), sam("pass", active)],
    [change("sam_registration.cage", null, "1ABC2")],
  ],
  [
    "a fact that a provider does not report changes nothing",
    [sam("pass", active), sam("pass", { registration_status: "active", expiration_date: "2027-01-31" })],
    [],
  ],
  [
    "a fact missing from one run is compared with its last reported value",
    [sam("pass", active), sam("pass", { registration_status: "active" }), sam("pass", { ...active, cage: "9ZZZ9" })],
    [change("sam_registration.cage", "1ABC2", "9ZZZ9")],
  ],
  [
    "a fact reported for the first time is silent",
    [sam("pass", { registration_status: "active" }), sam("pass", active)],
    [],
  ],
  [
    "a vendor whose record disappears: every fact becomes null",
    [sam("pass", active), sam("fail", {}, "not_found")],
    [
      change("sam_registration.status", "pass", "fail"),
      change("sam_registration.registration_status", "active", null),
      change("sam_registration.expiration_date", "2027-01-31", null),
      change("sam_registration.legal_name", "ACME WIDGETS LLC", null),
      change("sam_registration.cage", "1ABC2", null),
      change("sam_registration.entity_type", "Business or Organization", null),
    ],
  ],
  [
    "a vendor without a record registers",
    [sam("fail", {}, "not_found"), sam("pass", { registration_status: "active" })],
    [change("sam_registration.status", "fail", "pass"), change("sam_registration.registration_status", null, "active")],
  ],
  [
    "facts and reasons that are not watched are silent",
    [sam("fail", { ...active, confidence: "1" }, "excluded"), sam("fail", { ...active, confidence: "0.9" }, "expired")],
    [],
  ],
  [
    "a TIN that stops matching",
    [tin("pass"), tin("fail", "mismatch")],
    [change("tin_match.status", "pass", "fail"), change("tin_match.reason", null, "mismatch")],
  ],
  [
    "another reason of the same failure",
    [tin("fail", "mismatch"), tin("fail", "not_issued")],
    [change("tin_match.reason", "mismatch", "not_issued")],
  ],
  [
    "another TIN, beside what followed",
    [tin("pass", "", inputs, asked), tin("fail", "mismatch", other, { ...asked, tin: "****9363" })],
    [
      change("tin_match.status", "pass", "fail"),
      change("tin_match.reason", null, "mismatch"),
      change("tin_match.tin", "****9360", "****9363"),
    ],
  ],
  [
    "another name, also where nothing followed",
    [tin("pass", "", inputs, asked), tin("pass", "", other, { ...asked, name: "Acme Inc" })],
    [change("tin_match.name", "Acme LLC", "Acme Inc")],
  ],
  [
    "another TIN that ends in the same digits",
    [withTin("one", asked), withTin("two", asked)],
    [change("tin_match.tin", "****9360", "****9360")],
  ],
  ["a TIN whose hash the baseline lacks is silent once", [tin("pass", "", inputs, asked), withTin("one", asked)], []],
  [
    "another TIN is noticed across a record without its hash",
    [withTin("one", asked), tin("pass", "", inputs, asked), withTin("two", asked)],
    [change("tin_match.tin", "****9360", "****9360")],
  ],
  ["another spelling of the same name and TIN is silent", [withTin("one", asked), withTin("one", asked, other)], []],
  [
    "a TIN and a name that the baseline lacks are silent once, and what followed is not",
    [tin("pass"), tin("fail", "mismatch", other, asked)],
    [change("tin_match.status", "pass", "fail"), change("tin_match.reason", null, "mismatch")],
  ],
  [
    "a TIN and a name that an older version did not report stay in the baseline",
    [tin("pass", "", inputs, asked), tin("pass", "", other), tin("pass", "", other, { ...asked, tin: "****9366" })],
    [change("tin_match.tin", "****9360", "****9366")],
  ],
  [
    "a registration that is asked for by another identifier",
    [sam("pass", active), { ...sam("fail", { registration_status: "expired" }, "expired"), inputsFingerprint: other }],
    [
      change("sam_registration.status", "pass", "fail"),
      change("sam_registration.registration_status", "active", "expired"),
    ],
  ],
  [
    "an error with other inputs leaves the baseline as it is",
    [tin("pass"), tin("error", "missing_tin", Buffer.from("other")), tin("fail", "mismatch")],
    [change("tin_match.status", "pass", "fail"), change("tin_match.reason", null, "mismatch")],
  ],
];

describe("a run against the monitor's baseline", () => {
  test.each(rows)("%s", (_name, outcomes, changes) => {
    expect(lastOf(...outcomes).changes).toEqual(changes);
  });
});

describe("a run that arrives late", () => {
  const baseline: Baseline = { runSeq: 5, inputsFingerprint: inputs, fields: { status: "pass", reason: null } };

  test.each([4, 5])("run %i neither changes the baseline of run 5 nor reports a change", (runSeq) => {
    expect(detect(baseline, { seq: runSeq, at }, tin("fail", "mismatch"))).toEqual({
      baseline: undefined,
      changes: [],
    });
  });

  test("an older run does not begin a baseline of other inputs either", () => {
    expect(detect(baseline, { seq: 4, at }, tin("fail", "mismatch", Buffer.from("other"))).baseline).toBeUndefined();
  });
});

test("the baseline keeps values that the newest run did not report", () => {
  const { baseline } = lastOf(sam("pass", active), sam("pass", { registration_status: "active" }));
  expect(baseline).toEqual({
    runSeq: 2,
    inputsFingerprint: inputs,
    fields: { status: "pass", ...active },
  });
});
