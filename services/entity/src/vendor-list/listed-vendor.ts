import { type Check, type CheckStatus, checkNames } from "@vvs/checks";
import type { Tenant } from "@vvs/tenant";
import type { Document } from "mongodb";
import { isSameName } from "../matching/names/same-name.ts";
import type { ListedResult, ListedVendorDocument, VendorTag } from "../model/listed-vendor.ts";

/** `checked_at` of a vendor that was never verified: the longest unverified. */
export const NEVER = new Date(0);
/** `expires_on` of a vendor whose expiration date is unknown: the last in order. */
export const UNKNOWN_EXPIRY = "9999-12-31";
const NAME_KEY_LENGTH = 100;

/** A verification of a vendor, with what it says about the registration. */
export interface VerifiedVendor {
  readonly verificationId: string;
  readonly at: Date;
  /** The vendor's masked TIN after it, "" if it has none; undefined where it is not known. */
  readonly tin?: string | undefined;
  readonly results: readonly {
    readonly check: Check;
    readonly status: CheckStatus;
    readonly reason: string;
    /** The provider's facts by name; empty on error. */
    readonly facts: Readonly<Record<string, string>>;
    readonly madeAt: Date;
  }[];
}

/** Returns a vendor that was never verified. */
export function newVendor(
  { organizationId }: Pick<Tenant, "organizationId">,
  entityId: string,
  legalName: string,
): ListedVendorDocument {
  return {
    _id: vendorKey(organizationId, entityId),
    organization_id: organizationId,
    entity_id: entityId,
    name_key: nameKeyOf(legalName),
    checks: {},
    checked_at: NEVER,
    expires_on: UNKNOWN_EXPIRY,
    excluded: false,
    monitors: 0,
    lists: ["all", "unmonitored"],
  };
}

export function vendorKey(organizationId: string, entityId: string): string {
  return `${organizationId}/${entityId}`;
}

/** Returns the key by which a name is ordered: a prefix, without case. */
export function nameKeyOf(legalName: string): string {
  return [...legalName.toLowerCase()].slice(0, NAME_KEY_LENGTH).join("");
}

/**
 * Returns the update of a vendor by a verification. Verifications can come in any order, and repeatedly: of each check the
 * newest result and the newest answer count, so an older or repeated one changes nothing newer. Where `legalName` is "", the
 * name is not known and stays.
 */
export function noteVerification({ verificationId, at, tin, results }: VerifiedVendor, legalName: string): Document[] {
  const by = { at, verification_id: verificationId };
  const subject = { $cond: [isNewer(by, "$subject"), { $literal: { tin, ...by } }, "$subject"] };
  const fields = results.map(({ check, status, reason, facts, madeAt }) => {
    const made = madeAt < at ? { made_at: madeAt } : {};
    const result: ListedResult = { status, reason, ...by, ...made, ...aboutOf(check, { reason, facts, legalName }) };
    const [newest, answered] = [`checks.${check}.newest`, `checks.${check}.answered`];
    // Only results of tin_match are about a TIN. What a direct call writes is kept small: MongoDB reads it for each call.
    const counts = check === "tin_match" ? isBetter : isNewer;
    const betterOf = (field: string) => ({ $cond: [counts(result, field), { $literal: result }, field] });
    if (status === "error") return { [newest]: betterOf(`$${newest}`) };
    const isNewestAnswer = counts(result, `$${answered}`);
    const registration = check === "sam_registration" ? Object.entries(registrationOf(reason, facts)) : [];
    return {
      [newest]: betterOf(`$${newest}`),
      [answered]: betterOf(`$${answered}`),
      ...Object.fromEntries(
        registration.map(([name, value]) => [name, { $cond: [isNewestAnswer, value, `$${name}`] }]),
      ),
    };
  });
  const name = legalName === "" ? {} : { name_key: { $literal: nameKeyOf(legalName) } };
  const known = {
    checked_at: { $max: ["$checked_at", ...results.map(({ madeAt }) => (madeAt < at ? madeAt : at))] },
    ...name,
    ...(tin !== undefined && { subject }),
  };
  // The TIN that a match is about is compared with the vendor's after this verification.
  const needsSubject = results.some(({ check }) => check === "tin_match");
  const stages = needsSubject ? [known, Object.assign({}, ...fields)] : [Object.assign(known, ...fields)];
  return [...stages.map(($set) => ({ $set })), refilter];
}

/** Returns the update of a vendor's number of active monitors. */
export const noteMonitors = (monitors: number): Document[] => [{ $set: { monitors } }, refilter];

/** Returns the update that archives a vendor, or takes it back. One that is archived already stays as it is. */
export function noteArchived(archived: { at: Date; by: string } | undefined): Document[] {
  const stage = archived
    ? { $set: { archived: { $ifNull: ["$archived", { $literal: archived }] } } }
    : { $unset: "archived" };
  return [stage, refilter];
}

/** Returns what a result of a check is about, from the facts of its answer. */
function aboutOf(
  check: Check,
  { reason, facts, legalName }: { reason: string; facts: Readonly<Record<string, string>>; legalName: string },
): Pick<ListedResult, "tin" | "name" | "other_name" | "effect" | "same_name"> {
  const { tin, name, exclusion_effect: effect, same_name, legal_name: registered } = facts;
  if (check !== "tin_match") {
    const isOther = registered && legalName !== "" && !isSameName(registered, legalName);
    return { ...(effect && { effect }), ...(same_name && { same_name }), ...(isOther && { name: registered }) };
  }
  return { ...(tin && { tin }), ...(name && { name, ...otherNameOf({ reason, name }, legalName) }) };
}

/** Returns whether the name of a TIN match is another one than the vendor's. A TIN that was never issued is nobody's. */
function otherNameOf({ reason, name }: Pick<ListedResult, "reason" | "name">, legalName: string) {
  const isOther = reason !== "not_issued" && name && legalName !== "" && !isSameName(name, legalName);
  return isOther ? { other_name: true as const } : {};
}

function registrationOf(reason: string, facts: Readonly<Record<string, string>>) {
  const { registration_status: status, expiration_date: end } = facts;
  return { excluded: status === "debarred" || reason === "excluded", expires_on: end || UNKNOWN_EXPIRY };
}

type Moment = Pick<ListedResult, "at" | "verification_id">;

/** An expression: is a result newer than that of a field? One that is absent is the oldest. */
const isNewer = ({ at, verification_id }: Moment, field: string): Document => ({
  $gt: [
    [at, verification_id],
    [`${field}.at`, `${field}.verification_id`],
  ],
});

/** An expression: does a result count before that of a field? One about the vendor's TIN does before others, then a newer one. */
function isBetter(result: ListedResult, field: string): Document {
  const isOwn = isOwnTin(result.tin ?? "$$REMOVE");
  const isOwnBefore = isOwnTin(`${field}.tin`);
  return {
    $or: [isMissing(field), { $cond: [{ $eq: [isOwn, isOwnBefore] }, isNewer(result, field), isOwn] }],
  };
}

/** An expression: is a TIN, an expression too, the vendor's, as far as both are known? */
const isOwnTin = (tin: string) => ({
  $eq: [{ $ifNull: [tin, "$subject.tin"] }, { $ifNull: ["$subject.tin", tin] }],
});
const isMissing = (field: string) => ({ $eq: [{ $type: field }, "missing"] });

/** Returns whether a result is about another TIN or name than the vendor's; undefined where that is not known. */
export function isAboutOther(
  { subject }: Pick<ListedVendorDocument, "subject">,
  { tin, other_name }: ListedResult,
): boolean | undefined {
  return subject && (other_name === true || (tin !== undefined && tin !== subject.tin));
}

/** An expression: does a check's last answer fail the vendor? As `isAboutOther`: one about another TIN or name does not. */
const hasFailed = (check: Check) => ({
  $and: [
    { $eq: [`$checks.${check}.answered.status`, "fail"] },
    { $ne: [`$checks.${check}.answered.other_name`, true] },
    isOwnTin(`$checks.${check}.answered.tin`),
  ],
});
const tagIf = (condition: Document | string, tag: VendorTag) => ({ $cond: [condition, tag, null] });

/** The last stage of each update: computes again which filters show the vendor. */
const refilter: Document = {
  $set: {
    lists: {
      $cond: [
        isMissing("$archived"),
        {
          $setDifference: [
            [
              "all",
              { $cond: [{ $gt: ["$monitors", 0] }, "monitored", "unmonitored"] },
              tagIf({ $or: checkNames.map(hasFailed) }, "failed"),
              tagIf({ $in: ["error", checkNames.map((check) => `$checks.${check}.newest.status`)] }, "error"),
              tagIf("$excluded", "excluded"),
            ],
            [null],
          ],
        },
        ["archived"],
      ],
    },
  },
};
