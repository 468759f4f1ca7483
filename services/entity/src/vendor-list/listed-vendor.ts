import type { Check, CheckStatus } from "@vvs/checks";
import type { Tenant } from "@vvs/tenant";
import type { Document } from "mongodb";
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
  /** Number of writes. Replicas of an older version replace only what they have read. */
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
export function newVendor(
  { organizationId }: Pick<Tenant, "organizationId">,
  entityId: string,
  legalName: string,
): ListedVendorDocument {
  return {
    _id: vendorKey(organizationId, entityId),
    organization_id: organizationId,
    entity_id: entityId,
    revision: 1,
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
 * newest result and the newest answer count, so an older or repeated one changes nothing newer. Without `legalName` the name
 * stays.
 */
export function noteVerification({ verificationId, at, results }: VerifiedVendor, legalName: string): Document[] {
  const fields = results.map(({ check, status, reason, facts }) => {
    const tested = check === "tin_match" ? askedAbout(facts) : {};
    const result: ListedResult = { status, reason, at, verification_id: verificationId, ...tested };
    const newerOf = (field: string) => ({ $cond: [isNewer(result, field), { $literal: result }, field] });
    const [newest, answered] = [`checks.${check}.newest`, `checks.${check}.answered`];
    if (status === "error") return { [newest]: newerOf(`$${newest}`) };
    const isNewestAnswer = isNewer(result, `$${answered}`);
    const registration = check === "sam_registration" ? Object.entries(registrationOf(reason, facts)) : [];
    return {
      [newest]: newerOf(`$${newest}`),
      [answered]: newerOf(`$${answered}`),
      ...Object.fromEntries(
        registration.map(([name, value]) => [name, { $cond: [isNewestAnswer, value, `$${name}`] }]),
      ),
    };
  });
  const name = legalName === "" ? {} : { name_key: { $literal: nameKeyOf(legalName) } };
  return [{ $set: Object.assign({ checked_at: { $max: ["$checked_at", at] } }, name, ...fields) }, ...withLists];
}

/** Returns the update of a vendor's number of active monitors. */
export const noteMonitors = (monitors: number): Document[] => [{ $set: { monitors } }, ...withLists];

/** Returns the update that archives a vendor, or takes it back. One that is archived already stays as it is. */
export function noteArchived(archived: { at: Date; by: string } | undefined): Document[] {
  const stage = archived
    ? { $set: { archived: { $ifNull: ["$archived", { $literal: archived }] } } }
    : { $unset: "archived" };
  return [stage, ...withLists];
}

function askedAbout({ tin, name }: Readonly<Record<string, string>>) {
  return { ...(tin && { tin }), ...(name && { name }) };
}

function registrationOf(reason: string, facts: Readonly<Record<string, string>>) {
  const { registration_status: status, expiration_date: end } = facts;
  return { excluded: status === "debarred" || reason === "excluded", expires_on: end || UNKNOWN_EXPIRY };
}

/** An expression: is a result newer than that of a field, which may be absent? */
function isNewer({ at, verification_id }: ListedResult, field: string): Document {
  const isSameMoment = { $eq: [at, `${field}.at`] };
  return {
    $or: [
      { $eq: [{ $type: field }, "missing"] },
      { $gt: [at, `${field}.at`] },
      { $and: [isSameMoment, { $gt: [verification_id, `${field}.verification_id`] }] },
    ],
  };
}

const anyCheck = (condition: Document) => ({
  $anyElementTrue: { $map: { input: { $objectToArray: "$checks" }, as: "check", in: condition } },
});
const tagIf = (condition: Document | string, tag: VendorTag) => ({ $cond: [condition, [tag], []] });

/** The last stages of each update: the filters that find the vendor. */
const withLists: Document[] = [
  {
    $set: {
      revision: { $add: ["$revision", 1] },
      lists: {
        $cond: [
          { $ne: [{ $type: "$archived" }, "missing"] },
          ["archived"],
          {
            $concatArrays: [
              ["all"],
              { $cond: [{ $gt: ["$monitors", 0] }, ["monitored"], ["unmonitored"]] },
              tagIf(anyCheck({ $eq: ["$$check.v.answered.status", "fail"] }), "failed"),
              tagIf(anyCheck({ $eq: ["$$check.v.newest.status", "error"] }), "error"),
              tagIf("$excluded", "excluded"),
            ],
          },
        ],
      },
    },
  },
];
