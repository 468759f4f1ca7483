import { type Decision, type DecisionFacts, decide } from "@vvs/checks/decision";
import { irsName } from "@vvs/identifiers/irs-name";
import { isInForce, registryDay } from "@vvs/registration";
import type { ResultDocument, VerificationDocument } from "../documents.ts";

/** What a decision rests on. */
interface Decided {
  readonly verification: Pick<VerificationDocument, "overall_result" | "results" | "created_at">;
  /** What the resolution of the vendor found (`ResolvedSubject`): undefined where no registry knows the vendor. */
  readonly nameAgrees: boolean | undefined;
  /** The name that the call gave; "" where it gave none. */
  readonly givenName: string;
}

/**
 * Returns whether to pay a vendor by what a verification found on its day, and whether the name that was given agrees: with a
 * registry's names, or where no registry knows the vendor, with the name that matched with its TIN. `name_agrees` is absent
 * where none was given, or there is nothing to compare it with.
 */
export function decisionOf({ verification, nameAgrees, givenName }: Decided): {
  decision: Decision;
  name_agrees?: boolean;
} {
  const { overall_result: result, results } = verification;
  const agrees = givenName === "" ? undefined : (nameAgrees ?? agreesInResults(results, givenName));
  const today = registryDay(verification.created_at);
  const isExcluded = results.some(({ details }) => details?.exclusions?.some((each) => isInForce(each, today)));
  const name = nameOf(givenName, agrees);
  const sameName = sameNameIn(results);
  const { decision } = decide({ result, name, isExcluded, sameName });
  return { decision, ...(agrees !== undefined && { name_agrees: agrees }) };
}

function sameNameIn(results: readonly ResultDocument[]): DecisionFacts["sameName"] {
  if (results.some(({ details }) => details?.same_name?.length)) return "found";
  return results.some(({ details }) => details?.same_name_unknown) ? "unknown" : "none";
}

function nameOf(givenName: string, agrees: boolean | undefined): DecisionFacts["name"] {
  if (givenName === "") return undefined;
  return agrees === undefined ? "unknown" : agrees ? "agrees" : "differs";
}

/**
 * Returns true where a name is the one that the registry's answer has, except for case and signs, or without one, the one that
 * the IRS matched. Any other is unknown: in another spelling it may be the same company's.
 */
function agreesInResults(results: readonly ResultDocument[], givenName: string): true | undefined {
  const registered = results.find(({ details }) => details?.legal_name)?.details?.legal_name;
  if (registered !== undefined) return isSameButForSigns(registered, givenName) || undefined;
  const asked = [givenName, irsName(givenName)];
  const isMatched = ({ check_type, status, details }: ResultDocument) =>
    check_type === "tin_match" && status === "pass" && details?.name !== undefined && asked.includes(details.name);
  return results.some(isMatched) || undefined;
}

function isSameButForSigns(name: string, other: string): boolean {
  const [one, two] = [name, other].map((text) =>
    text
      .toUpperCase()
      .match(/[\p{L}\p{M}\p{N}&]+/gu)
      ?.join(" "),
  );
  return one !== undefined && one === two;
}
