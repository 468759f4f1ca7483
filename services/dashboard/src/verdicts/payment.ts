import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Check, checkNames, toCheckType } from "@vvs/checks";
import { type Decision, type DecisionFacts, decide } from "@vvs/checks/decision";
import { type ExclusionEffect, longDay, registryDay, utcDay } from "@vvs/registration";
import { checkTitle } from "../ui/parts.ts";
import { confirmedLast, type ScheduledRun } from "./read-confirmed.ts";
import { sameNameIn, sameNameTexts } from "./same-name-rows.ts";
import { type CheckedResult, exclusionEffect, isAnswer, type Verdict, verdictOf } from "./verdict.ts";

/** What a vendor has today. A TIN match counts only if it was made with this TIN and this name. */
export interface Subject {
  /** Masked; empty if none is known. */
  readonly tin: string;
  readonly name: string;
  /** Returns whether a name is this vendor's, except for its spelling. */
  readonly isNamed: (name: string) => boolean;
  /** The organization gave the vendor its name, since no registry knew it. */
  readonly hasGivenName?: boolean;
}

/** A result of a check of a vendor. */
interface VendorResult extends CheckedResult {
  /** It is about another TIN or name than the vendor's. Absent where only its details say it. */
  readonly aboutOther?: boolean | undefined;
}

/** A check of a vendor with its newest result and its newest answer; undefined where there is none. */
export interface CheckHistory {
  readonly check: Check;
  readonly newest: VendorResult | undefined;
  readonly answered: VendorResult | undefined;
}

/** What a check says about a vendor today. `other`: its answer is about another TIN or name than the vendor's. */
export interface VerdictToday {
  readonly check: Check;
  readonly state: Verdict["state"] | "other";
  /** Whole sentences. */
  readonly text: string;
  /** The strongest effect of the vendor's exclusions; undefined where there is none. */
  readonly exclusion?: ExclusionEffect | undefined;
  /** Exclusions without identifiers that bear its name, each in a sentence. */
  readonly sameNames?: readonly string[];
  /** Whether one does. Absent: none. */
  readonly sameName?: DecisionFacts["sameName"];
  /** The name in SAM.gov's answer is not the vendor's. */
  readonly otherName?: string | undefined;
}

/** The answer to whether a vendor can be paid. `open`: nothing failed, but something that a yes needs is missing. */
export interface PaymentAnswer {
  readonly decision: Decision;
  readonly state: "pass" | "fail" | "open" | "unchecked";
  readonly text: string;
  /** What a person must look at, each in a sentence, where nothing else is missing. */
  readonly doubts?: readonly string[];
}

/** Returns what each check says today about a vendor, in the order of all checks. */
export function verdictsToday(histories: readonly CheckHistory[], subject: Subject, now: Date): VerdictToday[] {
  return checkNames.map((check) => {
    const { newest, answered } = histories.find((history) => history.check === check) ?? {};
    return { check, ...verdictToday({ check, newest, answered }, subject, now) };
  });
}

function verdictToday({ check, newest, answered }: CheckHistory, subject: Subject, now: Date) {
  if (!newest) return unchecked(check, subject);
  const isUnanswered = !isAnswer(newest);
  if (!isUnanswered || !answered) return countedVerdict(check, newest, subject, now);
  const error = verdictOf(check, newest, now);
  const before = countedVerdict(check, answered, subject, now);
  // A failure counts until there is another answer. A pass does not: nobody could confirm it.
  if (before.state === "fail") return { ...before, text: `${before.text} The newest check got no answer.` };
  const last = `The last answer, of ${longDay(utcDay(answered.at))}: ${before.text}`;
  return { state: "error" as const, text: `${error.text} ${last}` };
}

function unchecked(check: Check, { tin }: Subject): Verdict {
  const text = check === "tin_match" && tin !== "" ? `The TIN ${tin} was not checked.` : "Not checked yet.";
  return { state: "unchecked", text };
}

type CountedVerdict = Omit<VerdictToday, "check">;

/** Returns what a result says today about a vendor: nothing, if it is about another TIN or name. */
function countedVerdict(check: Check, found: VendorResult, subject: Subject, now: Date): CountedVerdict {
  const verdict = verdictOf(check, found, now);
  const { reason, details } = found.result;
  const sameNames = sameNameTexts(found.result, registryDay(now));
  const registered = check === "sam_registration" && subject.hasGivenName ? (details?.legalName ?? "") : "";
  const counted = {
    ...verdict,
    exclusion: exclusionEffect(found, now),
    ...(sameNames.length > 0 && { sameNames }),
    sameName: sameNameIn([found.result], registryDay(now)),
    ...(registered !== "" && !subject.isNamed(registered) && { otherName: registered }),
  };
  if (check !== "tin_match" || !isAnswer(found)) return counted;
  const { tin = "", name = "" } = details ?? {};
  const other = (why: string): CountedVerdict => ({
    state: "other",
    text: `${verdict.text} ${why}`,
  });
  if (tin === "") {
    if (verdict.state === "fail") return counted;
    return { ...counted, state: "stale", text: `${verdict.text} Which TIN and name were asked about was not kept.` };
  }
  const isOtherTin = tin !== subject.tin;
  const isNamed = reason === "not_issued" || subject.isNamed(name);
  // The list of vendors may not know yet that another TIN replaced the one it compares with.
  if (!isOtherTin && !(found.aboutOther ?? !isNamed)) return counted;
  if (isOtherTin) {
    return other(
      subject.tin ? `This vendor’s TIN is ${subject.tin}, which was not checked.` : "This vendor has no such TIN.",
    );
  }
  if (isNamed) return other("This vendor’s TIN is another one with the same last four digits, which was not checked.");
  return other(`This vendor’s name is “${subject.name}”. Check that both names are of the same company.`);
}

/**
 * Returns whether a vendor can be paid by what its checks say today, and in words why. `decide` decides: a check that is missing
 * counts as one without an answer.
 */
export function paymentAnswer(verdicts: readonly VerdictToday[], subject: Pick<Subject, "tin">): PaymentAnswer {
  const isFailed = verdicts.some(({ state }) => state === "fail");
  const isMissing = verdicts.some((verdict) => isLacking(verdict, subject));
  const { decision } = decide({
    result: isFailed ? "fail" : isMissing ? "error" : "pass",
    name: verdicts.some(({ otherName }) => otherName) ? "differs" : undefined,
    isExcluded: isRestricted(verdicts),
    sameName: sameNameOf(verdicts),
  });
  return { decision, ...answerInWords(verdicts, subject) };
}

/** Returns whether a check says less than a yes needs. */
function isLacking({ check, state }: VerdictToday, subject: Pick<Subject, "tin">): boolean {
  return state !== "pass" && (state !== "unchecked" || isNeeded(check, subject));
}

function answerInWords(
  verdicts: readonly VerdictToday[],
  subject: Pick<Subject, "tin">,
): Omit<PaymentAnswer, "decision"> {
  const failed = verdicts.filter(({ state }) => state === "fail");
  const excluded = failed.find(({ exclusion }) => exclusion)?.exclusion;
  if (excluded === "facility") {
    return { state: "fail", text: "Do not pay yet: one of its facilities is excluded from federal awards." };
  }
  if (excluded) return { state: "fail", text: "Do not pay: excluded from federal awards." };
  if (failed.length > 0) return { state: "fail", text: `Do not pay yet: ${titlesOf(failed)} failed.` };
  if (verdicts.every(({ state }) => state === "unchecked")) return { state: "unchecked", text: "Not checked yet." };
  const missing = verdicts.filter((verdict) => isLacking(verdict, subject));
  if (missing.length > 0) return { state: "open", text: `Not yet: ${missing.map(whatIsMissing).join(", and ")}.` };
  const doubts = doubtsIn(verdicts);
  if (doubts.length > 0) {
    return { state: "open", text: `${doubts.join(" ")} Nothing else stands in the way of a payment.`, doubts };
  }
  const left = verdicts.filter(({ state }) => state === "unchecked");
  if (left.length === 0) return { state: "pass", text: "Yes, every check passed." };
  const passed = titlesOf(verdicts.filter(({ state }) => state === "pass"));
  return { state: "pass", text: `Yes, based on the checks made: ${passed} passed. ${titlesOf(left)} was not checked.` };
}

function sameNameOf(verdicts: readonly VerdictToday[]): DecisionFacts["sameName"] {
  const found = verdicts.map(({ sameName }) => sameName);
  return (["found", "unknown"] as const).find((each) => found.includes(each)) ?? "none";
}

/** Returns what a person must look at, although the checks passed. */
function doubtsIn(verdicts: readonly VerdictToday[]): string[] {
  const otherName = verdicts.find((verdict) => verdict.otherName)?.otherName;
  const sameName = sameNameOf(verdicts);
  return [
    ...(isRestricted(verdicts) ? ["Look at what you buy: some of its products are restricted."] : []),
    ...(otherName ? [`Look at the name: SAM.gov has this vendor as “${otherName}”.`] : []),
    ...(sameName === "found"
      ? ["Look at the exclusions that bear this vendor’s name: they may be of somebody else."]
      : []),
    ...(sameName === "unknown" ? ["Verify again: exclusions by name could not be looked up."] : []),
  ];
}

/** Returns whether a check must have passed before a yes: SAM.gov always, the TIN match where a TIN is known. */
export function isNeeded(check: Check, { tin }: Pick<Subject, "tin">): boolean {
  return check === "sam_registration" || (check === "tin_match" && tin !== "");
}

/** Returns whether some of the vendor's products are restricted, which fails no check. */
export const isRestricted = (verdicts: readonly VerdictToday[]): boolean =>
  verdicts.some(({ exclusion }) => exclusion === "product");

const titleOf = ({ check }: VerdictToday) => checkTitle(toCheckType(check));
const titlesOf = (verdicts: readonly VerdictToday[]) => verdicts.map(titleOf).join(" and ");

function whatIsMissing(verdict: VerdictToday): string {
  const title = titleOf(verdict);
  const texts: Readonly<Record<VerdictToday["state"], string>> = {
    error: `there is no answer to ${title}`,
    stale: `${title} must be made again`,
    other: `${title} is about another TIN or name`,
    unchecked: `${title} was not made`,
    pass: "",
    fail: "",
  };
  return texts[verdict.state];
}

/**
 * Returns a check of the registration whose newest result is an answer, with the checks of the vendor's monitors that found the
 * same since: they also saw what that answer rests on. Others as they are.
 */
export function withConfirmation<
  Result extends CheckedResult,
  History extends { newest: Result | undefined; answered: Result | undefined; check: string },
>(history: History, runs: readonly ScheduledRun[]): History {
  const { check, newest, answered } = history;
  if (check !== "sam_registration" || !newest || newest !== answered) return history;
  const same = confirmedLast(runs.filter(({ outcome }) => outcome === newest.result.status));
  if (!same || timestampDate(same.confirmed.lastAt!) <= newest.at) return history;
  const confirmed = { ...newest, confirmedBy: same };
  return { ...history, newest: confirmed, answered: confirmed };
}
