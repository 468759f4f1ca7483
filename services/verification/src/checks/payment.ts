import { decide } from "@vvs/checks/decision";
import { irsName } from "@vvs/identifiers/irs-name";
import { isInForce, registryDay } from "@vvs/registration";
import type { PaymentDocument, ResultDocument, VerificationDocument } from "../documents.ts";
import type { KnownExclusions } from "../providers/provider.ts";

/** What a decision rests on. */
interface Decided {
  readonly verification: Pick<VerificationDocument, "overall_result" | "results" | "created_at">;
  /** What the resolution of the vendor found (`ResolvedSubject`): undefined where no registry knows the vendor. */
  readonly nameAgrees?: boolean | undefined;
  /** The vendor's name as entity has it; absent where it is unknown. */
  readonly entityName?: string | undefined;
  /** The name that the call gave; "" where it gave none. */
  readonly givenName: string;
  /** What the loaded files say now, where they were read for this decision. */
  readonly exclusions?: KnownExclusions | undefined;
}

/**
 * Returns whether to pay a vendor on the day of a verification, by what that found, and whether the name that was given
 * agrees: with a registry's names, or where no registry knows the vendor, with the name that matched with its TIN. `name_agrees`
 * is absent where none was given, or there is nothing to compare it with.
 */
export function decisionOf({ verification, exclusions, ...names }: Decided): PaymentDocument {
  const { overall_result: result, results, created_at: at } = verification;
  const { givenName } = names;
  const agrees = givenName === "" ? undefined : doesAgree(results, names);
  const today = registryDay(at);
  const known = exclusionsIn(results, today);
  const { decision, doubts } = decide({
    result,
    hasEnded: results.some((each) => hasEnded(each, today)),
    name: givenName === "" ? matchedName(results) : agrees === undefined ? "unknown" : agrees ? "agrees" : "differs",
    isExcluded: known.isExcluded || (exclusions ?? known).isExcluded,
    sameName: (exclusions ?? known).sameName,
  });
  return {
    decision,
    doubts,
    ...(givenName && { given_name: givenName }),
    ...(agrees !== undefined && { name_agrees: agrees }),
  };
}

/**
 * Returns whether the given name agrees. Where the registry's answer has another name than the loaded file, the vendor was renamed
 * since: names of the file say nothing then.
 */
function doesAgree(
  results: readonly ResultDocument[],
  { givenName, entityName = "", nameAgrees }: Pick<Decided, "givenName" | "entityName" | "nameAgrees">,
): boolean | undefined {
  const registered = registeredIn(results);
  const isRenamed = registered !== undefined && entityName !== "" && !isSameButForSigns(registered, entityName);
  if (nameAgrees !== undefined && !isRenamed) return nameAgrees;
  return agreesInResults(results, givenName) ?? (nameAgrees === false ? false : undefined);
}

/** Returns whether the registration of a stored answer, which is not judged again, has ended since. */
function hasEnded({ status, details }: ResultDocument, today: string): boolean {
  const until = details?.expiration_date ?? "";
  return status === "pass" && until !== "" && until < today;
}

/** Returns what results say of exclusions: nothing where the registration was not checked. */
function exclusionsIn(results: readonly ResultDocument[], today: string): KnownExclusions {
  const isKnown = results.some(({ check_type }) => check_type === "sam_registration");
  const isExcluded = results.some(({ details }) => details?.exclusions?.some((each) => isInForce(each, today)));
  const isFound = results.some(({ details }) => details?.same_name?.length);
  const isUnknown = results.some(({ details }) => details?.same_name_unknown);
  return {
    isExcluded: isKnown ? isExcluded : undefined,
    sameName: isFound ? "found" : isUnknown ? "unknown" : "none",
  };
}

/** Returns whether the name that the IRS matched is the one in the registry's answer; undefined where one of them is unknown. */
function matchedName(results: readonly ResultDocument[]): "differs" | undefined {
  const matched = results.find(isMatch)?.details?.name;
  const registered = registeredIn(results);
  if (matched === undefined || registered === undefined) return undefined;
  const isSame = [registered, irsName(registered)].some((name) => isSameButForSigns(name, matched));
  return isSame ? undefined : "differs";
}

/**
 * Returns true where a name is the one that the registry's answer has, except for case and signs, or without one, the one that
 * the IRS matched. Any other is unknown: in another spelling it may be the same company's.
 */
function agreesInResults(results: readonly ResultDocument[], givenName: string): true | undefined {
  const registered = registeredIn(results);
  if (registered !== undefined) return isSameButForSigns(registered, givenName) || undefined;
  const asked = [givenName, irsName(givenName)];
  return results.some((each) => isMatch(each) && asked.includes(each.details?.name ?? "")) || undefined;
}

const isMatch = ({ check_type, status }: ResultDocument) => check_type === "tin_match" && status === "pass";

const registeredIn = (results: readonly ResultDocument[]) =>
  results.find(({ details }) => details?.legal_name)?.details?.legal_name;

/** Returns whether two names are the same except for case and signs. */
export function isSameButForSigns(name: string, other: string): boolean {
  const [one, two] = [name, other].map((text) =>
    text
      .toUpperCase()
      .match(/[\p{L}\p{M}\p{N}&]+/gu)
      ?.join(" "),
  );
  return one !== undefined && one === two;
}
