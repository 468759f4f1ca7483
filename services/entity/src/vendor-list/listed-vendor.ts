import type { Check, CheckStatus } from "@vvs/checks";
import type { Tenant } from "@vvs/tenant";
import type { IsoDate } from "../model/dates.ts";

/** A result of a check, and the verification that it is from. */
interface ListedResult {
  readonly status: CheckStatus;
  /** Empty on a plain pass. */
  readonly reason: string;
  /** When the verification was stored. Results are ordered by it, ties by the verification's id. */
  readonly at: Date;
  readonly verification_id: string;
  /** Of tin_match: the masked TIN and the name that were asked about. Absent where they are unknown. */
  readonly tin?: string;
  readonly name?: string;
}

/** The newest results of a check of a vendor. */
export interface ListedCheck {
  readonly newest: ListedResult;
  /** The newest pass or fail; absent if there is none. */
  readonly answered?: ListedResult;
}

/** A vendor in the list of an organization: an entity that it verified, monitors or created. */
export interface ListedVendorDocument {
  /** `<organization>/<entity>`. */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  /** Number of writes: each replaces what it has read. */
  readonly revision: number;
  /** The entity's name when this was last written, as lists are ordered by it. */
  readonly name_key: string;
  readonly checks: { readonly [C in Check]?: ListedCheck };
  /** When the newest verification was stored; NEVER if there is none. */
  readonly checked_at: Date;
  /** Last day of the registration by the last answer of sam_registration; UNKNOWN_EXPIRY if it has none. */
  readonly expires_on: IsoDate;
  /** That answer says that the vendor is excluded. */
  readonly excluded: boolean;
  /** Number of active monitors. */
  readonly monitors: number;
  readonly archived?: { readonly at: Date; readonly by: string };
  /** The filters that this vendor is found by. Each index is on one of them and on one order. */
  readonly lists: readonly VendorTag[];
}

/** A monitor of an organization's vendor. */
export interface VendorMonitorDocument {
  /** mon_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  /** A monitor that is canceled never becomes active again. */
  readonly active: boolean;
}

/** When the migration last looked for created entities that are in no list. */
export interface VendorListMigrationDocument {
  readonly _id: "created";
  /** By the database's clock. */
  readonly at: Date;
}

export type VendorTag = "all" | "failed" | "error" | "excluded" | "monitored" | "unmonitored" | "archived";

/** `checked_at` of a vendor that was never verified: the longest unverified. */
export const NEVER = new Date(0);
/** `expires_on` of a vendor whose expiration date is unknown: the last in order. */
export const UNKNOWN_EXPIRY = "9999-12-31";
const NAME_KEY_LENGTH = 100;

/** A verification of a vendor, with what it says about the registration. */
export interface VerifiedVendor {
  readonly verificationId: string;
  readonly at: Date;
  readonly results: readonly {
    readonly check: Check;
    readonly status: CheckStatus;
    readonly reason: string;
    /** The provider's facts by name; empty on error. */
    readonly facts: Readonly<Record<string, string>>;
  }[];
}

/** Returns a vendor that was never verified. */
export function newVendor({ organizationId }: Pick<Tenant, "organizationId">, entityId: string): ListedVendorDocument {
  return withLists({
    _id: vendorKey(organizationId, entityId),
    organization_id: organizationId,
    entity_id: entityId,
    revision: 1,
    name_key: "",
    checks: {},
    checked_at: NEVER,
    expires_on: UNKNOWN_EXPIRY,
    excluded: false,
    monitors: 0,
    lists: [],
  });
}

export function vendorKey(organizationId: string, entityId: string): string {
  return `${organizationId}/${entityId}`;
}

/** Returns the key by which a name is ordered: a prefix, without case. */
export function nameKeyOf(legalName: string): string {
  return [...legalName.toLowerCase()].slice(0, NAME_KEY_LENGTH).join("");
}

/**
 * Returns the vendor after a verification. Verifications can come in any order, and repeatedly: of each check the newest
 * result and the newest answer count, so an older or repeated one changes nothing newer.
 */
export function afterVerification(vendor: ListedVendorDocument, verified: VerifiedVendor): ListedVendorDocument {
  let next = vendor;
  for (const { check, status, reason, facts } of verified.results) {
    const { verificationId: verification_id, at } = verified;
    const result = { status, reason, at, verification_id, ...(check === "tin_match" && askedAbout(facts)) };
    const before = next.checks[check];
    const isNewestAnswer = status !== "error" && isNewer(result, before?.answered);
    const answered = isNewestAnswer ? result : before?.answered;
    const newest = before && !isNewer(result, before.newest) ? before.newest : result;
    next = { ...next, checks: { ...next.checks, [check]: { newest, ...(answered && { answered }) } } };
    if (isNewestAnswer && check === "sam_registration") next = { ...next, ...registrationOf(reason, facts) };
  }
  if (next.checked_at < verified.at) next = { ...next, checked_at: verified.at };
  return withLists(next);
}

function askedAbout({ tin, name }: Readonly<Record<string, string>>) {
  return { ...(tin && { tin }), ...(name && { name }) };
}

function registrationOf(reason: string, facts: Readonly<Record<string, string>>) {
  const { registration_status: status, expiration_date: end } = facts;
  return { excluded: status === "debarred" || reason === "excluded", expires_on: end || UNKNOWN_EXPIRY };
}

function isNewer(result: ListedResult, than: ListedResult | undefined): boolean {
  if (!than) return true;
  const difference = result.at.getTime() - than.at.getTime();
  return difference > 0 || (difference === 0 && result.verification_id > than.verification_id);
}

/** Returns the vendor with the filters that it is found by. */
export function withLists(vendor: ListedVendorDocument): ListedVendorDocument {
  return { ...vendor, lists: tagsOf(vendor) };
}

function tagsOf({ archived, checks, excluded, monitors }: ListedVendorDocument): VendorTag[] {
  if (archived) return ["archived"];
  const all = Object.values(checks);
  const tags: VendorTag[] = ["all", monitors > 0 ? "monitored" : "unmonitored"];
  if (all.some(({ answered }) => answered?.status === "fail")) tags.push("failed");
  if (all.some(({ newest }) => newest.status === "error")) tags.push("error");
  if (excluded) tags.push("excluded");
  return tags;
}
