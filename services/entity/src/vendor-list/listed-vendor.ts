import { type Check, type CheckStatus, checkNames } from "@vvs/checks";
import type { Tenant } from "@vvs/tenant";
import { isSameName } from "../matching/names/same-name.ts";
import type { ListedCheck, ListedResult, ListedVendorDocument, VendorTag } from "../model/listed-vendor.ts";

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
  /** That TIN's fingerprint, in base64; absent or "" where it is not known. */
  readonly tinFingerprint?: string | undefined;
  readonly results: readonly {
    readonly check: Check;
    readonly status: CheckStatus;
    readonly reason: string;
    /** The provider's facts by name; empty on error. */
    readonly facts: Readonly<Record<string, string>>;
    readonly madeAt: Date;
    /** Of tin_match: the fingerprint of the TIN that was asked about, in base64; absent or "" where it is not known. */
    readonly tinFingerprint?: string | undefined;
  }[];
}

/** Returns a vendor after a change; what it was given stays as it is. */
export type VendorChange = (vendor: ListedVendorDocument) => ListedVendorDocument;

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
 * Returns the change of a vendor by a verification. Verifications can come in any order, and repeatedly: of each check the
 * newest result and the newest answer count, so an older or repeated one changes nothing newer. Where `legalName` is "", the
 * name is not known and stays.
 */
export function noteVerification(
  { verificationId, at, tin, tinFingerprint, results }: VerifiedVendor,
  legalName: string,
): VendorChange {
  const by = { at, verification_id: verificationId };
  const times = results.map(({ madeAt }) => Math.min(madeAt.getTime(), at.getTime()));
  return (vendor) => {
    const noted = {
      ...vendor,
      checked_at: new Date(Math.max(vendor.checked_at.getTime(), ...times)),
      ...(legalName !== "" && { name_key: nameKeyOf(legalName) }),
      // The TIN that a match is about is compared with the vendor's after this verification.
      ...(tin !== undefined &&
        isNewer(by, vendor.subject) && { subject: { tin, ...fingerprinted(tinFingerprint), ...by } }),
    };
    return refiltered(results.reduce((before, result) => noteResult(before, by, result, legalName), noted));
  };
}

function noteResult(
  vendor: ListedVendorDocument,
  by: Moment,
  { check, status, reason, facts, madeAt, tinFingerprint }: VerifiedVendor["results"][number],
  legalName: string,
): ListedVendorDocument {
  const made = madeAt < by.at ? { made_at: madeAt } : {};
  const about = aboutOf(check, { reason, facts, legalName, tinFingerprint });
  const result: ListedResult = { status, reason, ...by, ...made, ...about };
  const known: Partial<ListedCheck> = vendor.checks[check] ?? {};
  // Only results of tin_match are about a TIN.
  const counts = (before: ListedResult | undefined) =>
    check === "tin_match" ? isBetter(result, before, vendor.subject) : isNewer(result, before);
  const newest = !known.newest || counts(known.newest) ? result : known.newest;
  const isNewestAnswer = status !== "error" && counts(known.answered);
  const answered = isNewestAnswer ? result : known.answered;
  return {
    ...vendor,
    ...(isNewestAnswer && check === "sam_registration" && registrationOf(reason, facts)),
    checks: { ...vendor.checks, [check]: { newest, ...(answered && { answered }) } },
  };
}

/** Returns the change of a vendor's number of active monitors. */
export const noteMonitors =
  (monitors: number): VendorChange =>
  (vendor) =>
    refiltered({ ...vendor, monitors });

/** Returns the change that archives a vendor, or takes it back. One that is archived already stays as it is. */
export const noteArchived =
  (archived: { at: Date; by: string } | undefined): VendorChange =>
  ({ archived: before, ...vendor }) =>
    refiltered({ ...vendor, ...(archived && { archived: before ?? archived }) });

/** Returns what stands for a registry entity in a list once an own entity has taken it over. */
export function takenVendor(tenant: Pick<Tenant, "organizationId">, entityId: string, takenBy: string) {
  return { ...newVendor(tenant, entityId, ""), lists: [], taken_by: takenBy };
}

/** Returns the vendor of an own entity with the results of the registry entity that it took over. It is archived if both were. */
export function withTaken(own: ListedVendorDocument, taken: ListedVendorDocument): ListedVendorDocument {
  const subject = isNewer(own.subject, taken.subject) ? own.subject : taken.subject;
  const better = (check: Check, one: ListedResult | undefined, other: ListedResult | undefined) => {
    if (!one || !other) return one ?? other;
    return (check === "tin_match" ? isBetter(one, other, subject) : isNewer(one, other)) ? one : other;
  };
  const checks = checkNames.flatMap((check) => {
    const [one, other] = [own.checks[check], taken.checks[check]];
    const newest = better(check, one?.newest, other?.newest);
    const answered = better(check, one?.answered, other?.answered);
    return newest ? [[check, { newest, ...(answered && { answered }) }] as const] : [];
  });
  const answers = [own, taken].map((vendor) => vendor.checks.sam_registration?.answered);
  const registration =
    better("sam_registration", ...(answers as [ListedResult?, ListedResult?])) === answers[0] ? own : taken;
  const { archived, ...vendor } = own;
  return refiltered({
    ...vendor,
    ...(archived && (taken.archived || taken.taken_by) && { archived }),
    ...(subject && { subject }),
    checks: Object.fromEntries(checks),
    checked_at: new Date(Math.max(own.checked_at.getTime(), taken.checked_at.getTime())),
    expires_on: registration.expires_on,
    excluded: registration.excluded,
  });
}

/** Returns what a result of a check is about, from the facts of its answer. */
function aboutOf(
  check: Check,
  {
    reason,
    facts,
    legalName,
    tinFingerprint,
  }: Pick<VerifiedVendor["results"][number], "reason" | "facts" | "tinFingerprint"> & { legalName: string },
): Pick<ListedResult, "tin" | "tin_fingerprint" | "name" | "other_name" | "effect" | "same_name"> {
  const { tin, name, exclusion_effect: effect, same_name, legal_name: registered } = facts;
  if (check !== "tin_match") {
    const isOther = registered && legalName !== "" && !isSameName(registered, legalName);
    return { ...(effect && { effect }), ...(same_name && { same_name }), ...(isOther && { name: registered }) };
  }
  const asked = tin && { tin, ...fingerprinted(tinFingerprint) };
  return { ...asked, ...(name && { name, ...otherNameOf({ reason, name }, legalName) }) };
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

/** Returns whether a result is newer than another one. One that is absent is the oldest. */
function isNewer(moment: Moment | undefined, than: Moment | undefined): boolean {
  if (!moment || !than) return moment !== undefined;
  const later = moment.at.getTime() - than.at.getTime();
  return later > 0 || (later === 0 && moment.verification_id > than.verification_id);
}

/** Returns whether a result counts before another one: one about the vendor's TIN does, then a newer one. */
function isBetter(
  result: ListedResult,
  than: ListedResult | undefined,
  subject: ListedVendorDocument["subject"],
): boolean {
  const isOwn = isOwnTin(result, subject);
  return !than || (isOwn === isOwnTin(than, subject) ? isNewer(result, than) : isOwn);
}

/**
 * Returns whether the TIN that a result is about is the vendor's, as far as both are known. Other TINs can have the same masked
 * form, so fingerprints are compared where both are known.
 */
function isOwnTin({ tin, tin_fingerprint }: ListedResult, subject: ListedVendorDocument["subject"]): boolean {
  if (tin === undefined || subject === undefined) return true;
  if (tin_fingerprint && subject.tin_fingerprint) return tin_fingerprint === subject.tin_fingerprint;
  return tin === subject.tin;
}

const fingerprinted = (tin_fingerprint: string | undefined) => (tin_fingerprint ? { tin_fingerprint } : {});

/** Returns whether a result is about another TIN or name than the vendor's; undefined where that is not known. */
export function isAboutOther(
  { subject }: Pick<ListedVendorDocument, "subject">,
  result: ListedResult,
): boolean | undefined {
  return subject && (result.other_name === true || !isOwnTin(result, subject));
}

/** Returns whether a check's last answer fails the vendor. One about another TIN or name does not. */
const fails = (answered: ListedResult | undefined, subject: ListedVendorDocument["subject"]) =>
  answered?.status === "fail" && answered.other_name !== true && isOwnTin(answered, subject);

/** Returns the vendor with the filters that show it. */
function refiltered(vendor: ListedVendorDocument): ListedVendorDocument {
  if (vendor.archived) return { ...vendor, lists: ["archived"] };
  const checks = checkNames.flatMap((check) => vendor.checks[check] ?? []);
  const tags: readonly [VendorTag, boolean][] = [
    ["all", true],
    ["monitored", vendor.monitors > 0],
    ["unmonitored", vendor.monitors === 0],
    ["failed", checks.some(({ answered }) => fails(answered, vendor.subject))],
    ["error", checks.some(({ newest }) => newest.status === "error")],
    ["excluded", vendor.excluded],
  ];
  return { ...vendor, lists: tags.flatMap(([tag, isShown]) => (isShown ? [tag] : [])) };
}
