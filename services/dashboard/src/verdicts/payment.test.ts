import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { type Check, toCheckType } from "@vvs/checks";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { ResultSchema } from "@vvs/proto/verification/v1/verification";
import { type CheckHistory, type PaymentAnswer, paymentAnswer, verdictsToday } from "./payment.ts";

const { PASS, FAIL, ERROR } = CheckStatus;
const NOW = new Date("2026-11-23T12:00:00Z");
const yesterday = new Date("2026-11-22T12:00:00Z");
const longAgo = new Date("2026-10-01T12:00:00Z");

interface Outcome {
  readonly status: CheckStatus;
  readonly reason?: string;
  readonly details?: {
    readonly tin?: string;
    readonly name?: string;
    readonly expirationDate?: string;
    readonly legalName?: string;
    readonly sameNameUnknown?: boolean;
    readonly sameName?: { readonly name: string; agency?: string; activeDate?: string; terminationDate: string }[];
    readonly exclusions?: { readonly exclusions: { effect: string; activeDate: string; terminationDate: string }[] };
  };
  readonly at?: Date;
}
const answer = (check: Check, { at = yesterday, ...result }: Outcome) => ({
  result: create(ResultSchema, { checkType: toCheckType(check), ...result }),
  at,
});
const history = (check: Check, newest: Outcome | undefined, before?: Outcome): CheckHistory => {
  const answered = newest?.status === ERROR ? before : newest;
  return {
    check,
    newest: newest && answer(check, newest),
    answered: answered && answer(check, answered),
  };
};

const OWN = { tin: "****6780", name: "Acme Inc" };
const subject = (tin: string) => ({
  ...OWN,
  tin,
  isNamed: (name: string) => name === "ACME, INC." || name === OWN.name,
});
const today = (sam: Outcome | undefined, tinMatch: Outcome | undefined, tin = OWN.tin) => {
  const histories = [history("sam_registration", sam), history("tin_match", tinMatch)];
  const verdicts = verdictsToday(histories, subject(tin), NOW);
  return { verdicts, answer: paymentAnswer(verdicts, { tin }) };
};

const exclusion = (effect: string, activeDate = "2026-01-01", terminationDate = "indefinite") => ({
  exclusions: { exclusions: [{ effect, activeDate, terminationDate }] },
});
const registrations = {
  unchecked: undefined,
  pass: { status: PASS },
  "pass, long ago": { status: PASS, at: longAgo },
  "pass, ended since": { status: PASS, details: { expirationDate: "2026-11-20" } },
  excluded: { status: FAIL, reason: "excluded" },
  "excluded by a bar": { status: FAIL, reason: "excluded", details: exclusion("bar") },
  "excluded for a facility": { status: FAIL, reason: "excluded", details: exclusion("facility") },
  "pass, products restricted": { status: PASS, details: exclusion("product") },
  "pass, products restricted later": { status: PASS, details: exclusion("product", "2027-01-01") },
  "pass, products restricted until yesterday": {
    status: PASS,
    details: exclusion("product", "2026-01-01", "2026-11-22"),
  },
  expired: { status: FAIL, reason: "expired" },
  error: { status: ERROR, reason: "stale_source" },
} as const satisfies Record<string, Outcome | undefined>;
const matches = {
  unchecked: undefined,
  pass: { status: PASS, details: OWN },
  "pass, name spelled otherwise": { status: PASS, details: { tin: OWN.tin, name: "ACME, INC." } },
  "pass, long ago": { status: PASS, details: OWN, at: longAgo },
  "pass of another TIN": { status: PASS, details: { tin: "****2220", name: OWN.name } },
  "pass of another name": { status: PASS, details: { tin: OWN.tin, name: "Totally Other Company Inc" } },
  "pass of an unknown TIN": { status: PASS },
  mismatch: { status: FAIL, reason: "mismatch", details: OWN },
  "mismatch of another TIN": { status: FAIL, reason: "mismatch", details: { tin: "****2222", name: OWN.name } },
  "mismatch of another name": { status: FAIL, reason: "mismatch", details: { tin: OWN.tin, name: "Other" } },
  "not issued, with another name": { status: FAIL, reason: "not_issued", details: { tin: OWN.tin, name: "Other" } },
  error: { status: ERROR, reason: "providers_failed" },
} as const satisfies Record<string, Outcome | undefined>;
type Registration = keyof typeof registrations;
type TinMatch = keyof typeof matches;

const SAM = "SAM.gov registration";
const RESTRICTED =
  "Look at what you buy: some of its products are restricted. Nothing else stands in the way of a payment.";

describe("whether a vendor with a TIN can be paid", () => {
  test.each<[Registration, TinMatch, PaymentAnswer["state"], string]>([
    ["pass", "pass", "pass", "Yes, every check passed."],
    ["pass", "pass, name spelled otherwise", "pass", "Yes, every check passed."],
    ["pass", "unchecked", "open", "Not yet: TIN match was not made."],
    ["pass", "pass, long ago", "open", "Not yet: TIN match must be made again."],
    ["pass", "pass of another TIN", "open", "Not yet: TIN match is about another TIN or name."],
    ["pass", "pass of another name", "open", "Not yet: TIN match is about another TIN or name."],
    ["pass", "pass of an unknown TIN", "open", "Not yet: TIN match must be made again."],
    ["pass", "mismatch", "fail", "Do not pay yet: TIN match failed."],
    ["pass", "mismatch of another TIN", "open", "Not yet: TIN match is about another TIN or name."],
    ["pass", "mismatch of another name", "open", "Not yet: TIN match is about another TIN or name."],
    ["pass", "not issued, with another name", "fail", "Do not pay yet: TIN match failed."],
    ["pass", "error", "open", "Not yet: there is no answer to TIN match."],
    ["unchecked", "pass", "open", `Not yet: ${SAM} was not made.`],
    ["unchecked", "unchecked", "unchecked", "Not checked yet."],
    ["error", "pass", "open", `Not yet: there is no answer to ${SAM}.`],
    ["error", "error", "open", `Not yet: there is no answer to ${SAM}, and there is no answer to TIN match.`],
    ["pass, long ago", "pass", "open", `Not yet: ${SAM} must be made again.`],
    ["pass, ended since", "pass", "open", `Not yet: ${SAM} must be made again.`],
    ["excluded", "pass", "fail", "Do not pay: excluded from federal awards."],
    ["excluded", "mismatch", "fail", "Do not pay: excluded from federal awards."],
    ["excluded by a bar", "pass", "fail", "Do not pay: excluded from federal awards."],
    [
      "excluded for a facility",
      "pass",
      "fail",
      "Do not pay yet: one of its facilities is excluded from federal awards.",
    ],
    ["pass, products restricted", "pass", "open", RESTRICTED],
    ["pass, products restricted", "mismatch", "fail", "Do not pay yet: TIN match failed."],
    ["pass, products restricted", "unchecked", "open", "Not yet: TIN match was not made."],
    ["pass, products restricted later", "pass", "pass", "Yes, every check passed."],
    ["pass, products restricted until yesterday", "pass", "pass", "Yes, every check passed."],
    ["expired", "pass", "fail", `Do not pay yet: ${SAM} failed.`],
    ["expired", "mismatch", "fail", `Do not pay yet: ${SAM} and TIN match failed.`],
  ])("whose registration is %s and whose TIN match is %s: %s, %s", (sam, tinMatch, state, text) => {
    expect(today(registrations[sam], matches[tinMatch]).answer).toMatchObject({ state, text });
  });

  test("is yes only where SAM.gov and the TIN match of this TIN and name passed lately", () => {
    for (const sam of Object.keys(registrations) as Registration[]) {
      for (const tinMatch of Object.keys(matches) as TinMatch[]) {
        const { verdicts, answer } = today(registrations[sam], matches[tinMatch]);
        const passed = ["pass", "pass, products restricted later", "pass, products restricted until yesterday"];
        const isYes = passed.includes(sam) && (tinMatch === "pass" || tinMatch === "pass, name spelled otherwise");
        expect([sam, tinMatch, answer.state === "pass", /^Yes/.test(answer.text)]).toEqual([
          sam,
          tinMatch,
          isYes,
          isYes,
        ]);
        if (isYes) expect(verdicts.every(({ state }) => state === "pass")).toBe(true);
      }
    }
  });
});

describe("whether a vendor without a TIN can be paid", () => {
  test.each<[Registration, TinMatch, PaymentAnswer["state"], string]>([
    ["pass, products restricted", "unchecked", "open", RESTRICTED],
    ["pass", "unchecked", "pass", `Yes, based on the checks made: ${SAM} passed. TIN match was not checked.`],
    ["pass", "error", "open", "Not yet: there is no answer to TIN match."],
    ["pass", "pass", "open", "Not yet: TIN match is about another TIN or name."],
    ["error", "unchecked", "open", `Not yet: there is no answer to ${SAM}.`],
    ["unchecked", "unchecked", "unchecked", "Not checked yet."],
  ])("whose registration is %s and whose TIN match is %s: %s, %s", (sam, tinMatch, state, text) => {
    expect(today(registrations[sam], matches[tinMatch], "").answer).toMatchObject({ state, text });
  });
});

describe("what a check says today", () => {
  const textOf = (tinMatch: TinMatch, tin = OWN.tin) => today(undefined, matches[tinMatch], tin).verdicts[1]!.text;

  test.each<[TinMatch, string, string]>([
    ["unchecked", OWN.tin, "The TIN ****6780 was not checked."],
    ["unchecked", "", "Not checked yet."],
    ["pass of another TIN", OWN.tin, "This vendor’s TIN is ****6780, which was not checked."],
    ["pass", "", "This vendor has no such TIN."],
    [
      "pass of another name",
      OWN.tin,
      "This vendor’s name is “Acme Inc”. Check that both names are of the same company.",
    ],
    ["pass of an unknown TIN", OWN.tin, "Which TIN and name were asked about was not kept."],
  ])("of a TIN match that is %s, with the TIN %j, ends with: %s", (tinMatch, tin, end) => {
    expect(textOf(tinMatch, tin).endsWith(end)).toBe(true);
  });

  test("after an error is still a failure, but no longer a pass", () => {
    const error = { status: ERROR, reason: "timeout" };
    const of = (before: Outcome) => {
      const [verdict] = verdictsToday([history("sam_registration", error, before)], subject(""), NOW);
      return [verdict!.state, verdict!.text];
    };
    expect(of({ status: FAIL, reason: "not_found" })).toEqual([
      "fail",
      "SAM.gov has no record of this vendor. The newest check got no answer.",
    ]);
    expect(of({ status: PASS })).toEqual([
      "error",
      "The provider did not answer completely in time. The last answer, of 22 November 2026: Active in SAM.gov, and not excluded.",
    ]);
  });
});

describe("a payment is decided", () => {
  const SAME = { name: "ACME INC", agency: "HHS", activeDate: "2024-03-02", terminationDate: "indefinite" };
  const named = { ...subject(OWN.tin), hasGivenName: true };
  const decided = (sam: Outcome, of: Parameters<typeof verdictsToday>[1] = named) => {
    const verdicts = verdictsToday([history("sam_registration", sam), history("tin_match", matches.pass)], of, NOW);
    return { verdicts, ...paymentAnswer(verdicts, of) };
  };

  test("with a yes, and only then, to pay; with a failed check to hold", () => {
    for (const sam of Object.values(registrations)) {
      for (const match of Object.values(matches)) {
        for (const tin of [OWN.tin, ""]) {
          const { decision, state } = today(sam, match, tin).answer;
          expect(decision).toBe(state === "pass" ? "pay" : state === "fail" ? "hold" : "review");
        }
      }
    }
  });

  test.each<[string, Outcome, string, string]>([
    [
      "an exclusion without identifiers bears the name",
      { status: PASS, details: { sameName: [SAME] } },
      "review",
      "Look at the exclusions that bear this vendor’s name: they may be of somebody else. Nothing else stands in the way of a payment.",
    ],
    [
      "exclusions by name could not be looked up",
      { status: PASS, details: { sameNameUnknown: true } },
      "review",
      "Verify again: exclusions by name could not be looked up. Nothing else stands in the way of a payment.",
    ],
    [
      "SAM.gov has another name than the one that was given",
      { status: PASS, details: { legalName: "LORWIN LLC" } },
      "review",
      "Look at the name: SAM.gov has this vendor as “LORWIN LLC”. Nothing else stands in the way of a payment.",
    ],
    [
      "SAM.gov has the given name",
      { status: PASS, details: { legalName: "ACME, INC." } },
      "pay",
      "Yes, every check passed.",
    ],
    [
      "such an exclusion has ended",
      { status: PASS, details: { sameName: [{ ...SAME, terminationDate: "2026-11-22" }] } },
      "pay",
      "Yes, every check passed.",
    ],
    [
      "a check failed too",
      { status: FAIL, reason: "expired", details: { sameName: [SAME] } },
      "hold",
      "Do not pay yet: SAM.gov registration failed.",
    ],
  ])("where %s", (_name, sam, decision, text) => {
    expect(decided(sam)).toMatchObject({ decision, text });
  });

  test("without the name of a vendor that the registry knows: it is the registry's", () => {
    const renamed = { status: PASS, details: { legalName: "LORWIN LLC" } };
    expect(decided(renamed, subject(OWN.tin))).toMatchObject({ decision: "pay" });
  });

  test("with each such exclusion in words", () => {
    const { verdicts } = decided({ status: PASS, details: { sameName: [SAME] } });
    expect(verdicts[0]!.sameNames).toEqual(["“ACME INC”, excluded by HHS, since 2 March 2024, without an end date."]);
  });
});
