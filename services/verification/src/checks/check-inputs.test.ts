import { describe, expect, test } from "@jest/globals";
import type { Check } from "@vvs/checks";
import { type CheckSubject, inputsFingerprint, missingInput } from "./check-inputs.ts";

const complete: CheckSubject = {
  entityId: "ent_1",
  legalName: "Acme LLC",
  uei: "ABCDEFGHJK12",
  cage: "1AB23",
  tinHash: Buffer.from("hash"),
  tinMatchRecorded: false,
  entityType: "",
  createdByOrganization: false,
  externalId: "",
};
const noTin = new Uint8Array();

describe("a check reports what is missing", () => {
  test.each<[string, Check, Partial<CheckSubject>, string | undefined]>([
    ["nothing", "tin_match", {}, undefined],
    ["the TIN first", "tin_match", { tinHash: noTin, legalName: "" }, "missing_tin"],
    ["the name", "tin_match", { legalName: "" }, "missing_name"],
    ["neither UEI nor CAGE", "sam_registration", { uei: "", cage: "" }, "missing_uei"],
    ["nothing with only a CAGE", "sam_registration", { uei: "" }, undefined],
    ["nothing without TIN and name", "sam_registration", { tinHash: noTin, legalName: "" }, undefined],
  ])("%s", (_name, check, subject, reason) => {
    expect(missingInput(check, { ...complete, ...subject })).toBe(reason);
  });
});

describe("a fingerprint covers the inputs of its check", () => {
  test.each<[string, Check, Partial<CheckSubject>, boolean]>([
    ["another name", "tin_match", { legalName: "Acme Inc" }, false],
    ["another TIN", "tin_match", { tinHash: Buffer.from("other") }, false],
    ["another UEI, which tin_match does not ask with", "tin_match", { uei: "ZZZZZZZZZZZ1" }, true],
    ["another UEI", "sam_registration", { uei: "ZZZZZZZZZZZ1" }, false],
    ["another CAGE beside a UEI, a fact that is watched", "sam_registration", { cage: "9ZZ99" }, true],
    ["no UEI any more", "sam_registration", { uei: "" }, false],
    ["another name, which sam_registration does not ask with", "sam_registration", { legalName: "Acme Inc" }, true],
  ])("%s", (_name, check, changed, isSame) => {
    expect(inputsFingerprint(check, { ...complete, ...changed }) === inputsFingerprint(check, complete)).toBe(isSame);
  });

  test("with only the CAGE, where there is no UEI", () => {
    const [one, other] = ["1AB23", "9ZZ99"].map((cage) =>
      inputsFingerprint("sam_registration", { ...complete, uei: "", cage }),
    );
    expect(one).not.toBe(other);
  });

  test("the same for a name as it was written and as a system damaged it", () => {
    const [meant, damaged] = ["Nestlé & Sons", "NestlÃ© &amp; Sons"].map((legalName) =>
      inputsFingerprint("tin_match", { ...complete, legalName }),
    );
    expect(damaged).toBe(meant);
  });

  test("and the check itself", () => {
    expect(inputsFingerprint("tin_match", complete)).not.toBe(inputsFingerprint("sam_registration", complete));
  });
});
