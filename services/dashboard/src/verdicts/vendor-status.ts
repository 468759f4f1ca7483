import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf, toCheckType } from "@vvs/checks";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Vendor, VendorAnswer } from "@vvs/proto/entity/v1/vendors";
import { ResultSchema } from "@vvs/proto/verification/v1/verification";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { checkTitle } from "../ui/parts.ts";
import { decisionLabels } from "./certified-decision.ts";
import {
  type CheckHistory,
  isNeeded,
  isRestricted,
  paymentAnswer,
  type VerdictToday,
  verdictsToday,
  withConfirmation,
} from "./payment.ts";
import { noRuns, readScheduledRuns, type ScheduledRun } from "./read-confirmed.ts";
import { isSent } from "./same-names.ts";

/** What a vendor's entry in the list says in words. */
export interface VendorStatus {
  readonly state: "pass" | "fail" | "error" | "stale" | "other" | "open" | "unchecked";
  readonly label: string;
  /** For each check that was made, or that a yes needs, what it says today. */
  readonly details: readonly string[];
}

export const statusLabels: Readonly<Record<VendorStatus["state"], string>> = {
  fail: "Failed",
  error: "No answer",
  stale: "Verify again",
  other: "Other TIN or name",
  open: "Not yet",
  pass: "Passed",
  unchecked: "Not checked yet",
};
/** Worst first: a vendor that neither passed nor failed has the worst status of its checks. */
const worstFirst = ["error", "stale", "other"] as const;

type ListedVendor = Pick<Vendor, "entity" | "checks" | "expirationDate">;
type ListedResult = Omit<VendorAnswer, "$typeName" | "$unknown" | "verificationId">;

/** Reads the statuses of those of some entities that are in the list of vendors; undefined while it is unavailable. */
export async function readVendorStatuses(
  context: Pick<PageContext, "vendorList" | "monitors" | "readPanel">,
  visit: Pick<Visit, "caller" | "now">,
  entityIds: readonly string[],
): Promise<ReadonlyMap<string, VendorStatus> | undefined> {
  if (entityIds.length === 0) return new Map();
  const { caller } = visit;
  const [found, scheduled] = await Promise.all([
    context.readPanel(visit, "statuses of vendors", (call) =>
      context.vendorList.getVendors({ caller, entityIds: [...entityIds] }, call),
    ),
    context.readPanel(visit, "scheduled checks of vendors", (call) =>
      readScheduledRuns(context, visit, { entityIds }, call),
    ),
  ]);
  if (!found) return undefined;
  return new Map(
    found.vendors.map((vendor) => {
      const id = vendor.entity?.id ?? "";
      return [id, vendorStatus(vendor, scheduled?.get(id) ?? noRuns, visit.now)];
    }),
  );
}

/**
 * Returns the status of a vendor today, by the same rule as its own page, which also knows of exclusions without identifiers that
 * bear its name.
 */
export function vendorStatus(vendor: ListedVendor, runs: readonly ScheduledRun[], now: Date): VendorStatus {
  const { legalName: name = "", identifiers } = vendor.entity ?? {};
  // The list says which results are about other names; during a rollout, an earlier version does not.
  const subject = {
    tin: identifiers?.tin ?? "",
    name,
    isNamed: (asked: string) => isSent({ asked, own: name }),
    hasGivenName: !isInRegistry({ sources: vendor.entity?.sources ?? [] }),
  };
  const histories = historiesOf(vendor).map((history) => withConfirmation(history, runs));
  const verdicts = verdictsToday(histories, subject, now);
  const answer = paymentAnswer(verdicts, subject);
  const state =
    answer.state === "open"
      ? (worstFirst.find((each) => verdicts.some((verdict) => verdict.state === each)) ?? "open")
      : answer.state;
  const isExcluded = answer.state === "fail" && verdicts.some(({ exclusion }) => exclusion);
  const { doubts = [] } = answer;
  const doubted = isRestricted(verdicts) ? "Restricted" : doubts.length > 0 ? decisionLabels.review : undefined;
  const label = isExcluded ? "Excluded" : (state === "open" && doubted) || statusLabels[state];
  const shown = verdicts.filter(
    (verdict) => verdict.state !== "unchecked" || (answer.state === "open" && isNeeded(verdict.check, subject)),
  );
  return { state, label, details: [...shown.map(detailOf), ...doubts] };
}

/** Returns whether a source other than the organization itself has said anything about a vendor's registration. */
export function isInRegistry({ sources }: Pick<Entity, "sources">): boolean {
  return sources.some(({ name }) => name !== "organization");
}

/** Names the check where its text does not say which one it is. */
function detailOf({ check, state, text }: VerdictToday): string {
  return state === "error" || state === "unchecked" ? `${checkTitle(toCheckType(check))}: ${text}` : text;
}

function historiesOf({ checks, expirationDate }: ListedVendor): CheckHistory[] {
  return checks.flatMap((listed) => {
    const check = checkOf(listed.checkType);
    if (!check) return [];
    const resultOf = ({ status, reason, tin, name, aboutOther, checkedAt, ...more }: ListedResult) => {
      const details = check === "sam_registration" ? registrationOf({ name, ...more }, expirationDate) : { tin, name };
      const result = create(ResultSchema, { checkType: listed.checkType, status, reason, details });
      return { result, at: timestampDate(checkedAt!), aboutOther };
    };
    const newest = resultOf(listed);
    const isAnswer = listed.status !== CheckStatus.ERROR;
    return [{ check, newest, answered: isAnswer ? newest : listed.lastAnswered && resultOf(listed.lastAnswered) }];
  });
}

/** The list has no exclusion itself, only what they mean for the vendor. */
function registrationOf(
  { name: legalName, exclusionEffect: effect, sameName }: Pick<ListedResult, "name" | "exclusionEffect" | "sameName">,
  expirationDate: string,
) {
  if (!expirationDate && !effect && !sameName && !legalName) return undefined;
  return {
    ...{ expirationDate, legalName, sameNameUnknown: sameName === "unknown" },
    ...(effect !== "" && { exclusions: { exclusions: [{ effect }] } }),
    ...(sameName === "found" && { sameName: [{ terminationDate: "indefinite" }] }),
  };
}
