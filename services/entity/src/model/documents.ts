import type { CapDocument } from "@vvs/mongo";
import type { ExclusionEffect } from "@vvs/registration";
import type { Binary, Collection, Db, ObjectId } from "mongodb";
import type { Address } from "../matching/addresses/address.ts";
import type { IsoDate } from "./dates.ts";
import type { ExcludedNameDocument } from "./excluded-names.ts";
import type { SamFacts } from "./facts.ts";
import type { ListedVendorDocument, VendorMonitorDocument } from "./listed-vendor.ts";
import type { QuarantineDocument } from "./quarantine.ts";
import type { RegistryRowDocument, RowField, TakenField } from "./registry-row.ts";
import type { TinReplacementDocument } from "./tin-replacement.ts";

/** The identifiers that may be shown. A TIN is stored apart from them, sealed. */
export type PublicIdentifierType = "uei" | "cage" | "duns";
export type PublicIdentifiers = { readonly [T in PublicIdentifierType]?: string };

/** When an exclusion is in force, and what it does. */
export interface ExclusionPeriodDocument {
  /** The first day; absent where the source does not say, which means that it is in force already. */
  readonly active_date?: IsoDate;
  /** The last day; absent where the source does not say, which means the same as `indefinite`. */
  readonly termination_date?: IsoDate | "indefinite";
  /** Absent means `bar`. */
  readonly effect?: ExclusionEffect;
}

export interface SourceDocument {
  readonly name: string;
  readonly retrieved_at: Date;
  readonly version?: string;
}

/** Keys by which names and addresses are found; computed again whenever either changes. */
export interface MatchKeys {
  /** Keys of the legal name, for exact look-ups. */
  readonly name_keys: readonly string[];
  /** Keys of all names, for fuzzy look-ups. */
  readonly candidate_keys: readonly string[];
  readonly address_keys: readonly string[];
  /** Version of the rules that made the keys. */
  readonly match_version: number;
}

/** An entity: the registry's if `organization_id` is null, otherwise one that this organization created. */
export interface EntityDocument extends MatchKeys {
  readonly _id: string;
  readonly organization_id: string | null;
  /** The number and the hash of the newest snapshot; a change must have read them. */
  readonly version: number;
  readonly last_hash: string;
  readonly legal_name: string;
  /** No legal name was supplied. The name is a placeholder, and matches nothing. */
  readonly placeholder: boolean;
  readonly other_names: readonly string[];
  readonly identifiers: PublicIdentifiers;
  /** On own entities: the public identifiers as "type:value", unique in the organization. */
  readonly claims?: readonly string[];
  /** On own entities that carry a TIN. */
  readonly tin_last4?: string;
  /** Absent until a registry or a provider has facts. */
  readonly sam?: SamFacts;
  /** The exclusions of the loaded exclusions file that are not over. */
  readonly exclusions: readonly ExclusionPeriodDocument[];
  /** The exclusion that the registry's file flags has ended since, as the exclusions files show. */
  readonly flag_ended?: boolean;
  readonly addresses: readonly Address[];
  readonly sources: readonly SourceDocument[];
  /** On own entities: hashes of the creation's content by all keys of the ring, by which a repeated creation finds the entity. */
  readonly content_hash?: readonly Binary[];
  /** Id of the newest key that hashed it. */
  readonly content_hash_key_id?: string;
  /** On own entities: the registry entity whose row it took over; the organization does not see that one. */
  readonly registry_entity_id?: string;
  /** Registry entities: whether the newest complete file lists it. Own ones that took one over: false where it lacks that one. */
  readonly listed?: boolean;
  /** CAGEs that the registry's other rows of the entity carry. Absent if there are none. */
  readonly other_cages?: readonly string[];
  /** CAGEs that the entity carried in earlier files. Absent if there are none. */
  readonly former_cages?: readonly string[];
  /** CAGEs that the load of its row gave it first, and its withdrawal removes. Absent if there are none. */
  readonly new_cages?: readonly string[];
  /** On registry entities: the row that was applied last. */
  readonly registry_row?: RegistryRowDocument;
  /** What it was by the row before, which counts again if the load of its row is withdrawn. Absent where there was none. */
  readonly row_before?: Pick<EntityDocument, RowField>;
  /** On own entities that took a registry entity over: what they were before. Absent if a version without this took it over. */
  readonly before_takeover?: Pick<EntityDocument, TakenField> & { readonly load_id: string };
  readonly created_at: Date;
  /** Number of writes that made no version, because nothing visible changed. */
  readonly revision?: number;
  /** Time of the newest snapshot; at least a millisecond later than the one before, so that lists keep their order. */
  readonly changed_at: Date;
  /** The same, indexed, of an organization's own entities only: so a load that writes exclusions touches no index. */
  readonly own_changed_at?: Date;
}

/** An entity without its place in its chain of snapshots. */
export type UnversionedEntity = Omit<EntityDocument, "version" | "last_hash" | "changed_at" | "own_changed_at">;

/** An entity as look-ups return it, without its match keys. */
export type FoundEntity = Omit<EntityDocument, keyof MatchKeys>;

/** An immutable record of the public view of an entity. No code path updates or deletes one. */
export interface SnapshotDocument {
  readonly _id: string;
  readonly entity_id: string;
  readonly organization_id?: string;
  readonly version: number;
  readonly entity: PublicEntity;
  readonly actor: string;
  readonly request_id?: string;
  readonly created_at: Date;
  readonly hash: string;
  readonly previous_hash?: string;
}

/** An entity as the public API shows it; absent optional fields are left out. */
export interface PublicEntity {
  readonly id: string;
  readonly legal_name: string;
  readonly identifiers: Readonly<Record<string, string>>;
  readonly sam_gov: {
    readonly registration_status: string;
    readonly cage?: string;
    readonly expiration_date?: string;
    readonly entity_type?: string;
  };
  readonly addresses: readonly Address[];
  readonly confidence: number;
  readonly sources: readonly { readonly name: string; readonly retrieved_at: string; readonly version?: string }[];
}

/** A sealed secret, with the id of its key. */
export interface SealedDocument {
  readonly key_id: string;
  readonly box: Binary;
}

/**
 * A stored TIN: sealed for TIN providers, hashed to be found, its last digits to be shown. Keys rotate; the fingerprint,
 * by a key of the organization, stays.
 */
export interface TinDocument {
  readonly sealed: SealedDocument;
  readonly hash: Binary;
  /** Id of the key that hashed it. */
  readonly hash_key_id: string;
  readonly fingerprint: Binary;
  readonly last4: string;
}

/** The TIN of an own entity; `_id` is the entity's. */
export interface CarriedTinDocument extends TinDocument {
  readonly _id: string;
  readonly organization_id: string;
}

/**
 * What one organization supplied about an entity beside the entity itself: an identifier that a registry entity does not
 * carry, or its own number of any visible entity or of monitors of it (external-ids.ts).
 */
export interface RememberedDocument extends Partial<TinDocument> {
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly type: PublicIdentifierType | "tin" | "external_id" | "monitor_numbers";
  /** Only of a TIN: its fingerprint if it matched at a TIN provider, else anything. Absent on old ones: it may have matched. */
  readonly matched?: Binary;
  /** Only of a public identifier. */
  readonly value?: string;
  /** Only of the organization's own number. */
  readonly external_id?: string;
  /** Only of monitors' numbers: those that could be a TIN, so that the entity never gets that TIN. */
  readonly monitor_numbers?: readonly string[];
  /** Only of the organization's own number: when the entity was created, by which lists are ordered. */
  readonly created_at?: Date;
}

/** The organization's own number of an entity. */
export type ExternalIdDocument = RememberedDocument &
  Required<Pick<RememberedDocument, "external_id" | "created_at">> & { readonly type: "external_id" };

/** The sealed key for the fingerprints of an organization's TINs; `_id` is the organization's. */
export interface FingerprintKeyDocument {
  readonly _id: string;
  readonly sealed: SealedDocument;
}

/**
 * A row of the exclusions files that names a UEI or a CAGE; `_id` is the row's key. A row that a newer file lacks has
 * ended, and is kept, because SAM.gov publishes no history.
 */
export interface ExclusionDocument extends ExclusionPeriodDocument {
  readonly _id: string;
  /** The last load that had the row. */
  readonly load_id: string;
  /** The last load that added or changed the row, and the row before that change; absent where that load added it. */
  readonly changed_by?: string;
  readonly before?: ExclusionDocument;
  /** Cut date of the first file that had the row. */
  readonly first_seen: IsoDate;
  /** Cut date of the newest file that had the row. */
  readonly last_seen: IsoDate;
  /** The first load that lacked the row, and its file's cut date; absent while the newest file has it. */
  readonly ended_by?: string;
  readonly ended_on?: IsoDate;
  readonly sam_number: string;
  readonly uei?: string;
  readonly cage?: string;
  readonly exclusion_type: string;
  readonly program: string;
  readonly agency: string;
  /** Number of equal rows in the file; absent if there is one. */
  readonly count?: number;
  /** Without TINs; absent where the row has none, or is about a person. */
  readonly comment?: string;
}

/**
 * Written by every transaction that writes an entity with this UEI or CAGE by its exclusions or registry row, and where it
 * exists by loads that change those, so that concurrent ones conflict. `_id` is "uei:…" or "cage:…"; "external_id:…" guards an
 * organization's own number of an entity against becoming its TIN.
 */
export interface IdentifierGuardDocument {
  readonly _id: string;
  readonly writes: number;
  /** Time of the last write; the document is removed a day later. */
  readonly at: Date;
}

/** What a load changed, by the fields of the public view. */
export interface LoadChanges {
  readonly added: number;
  readonly changed: number;
  readonly gone: number;
  /** Most frequent first. */
  readonly fields: readonly { readonly field: string; readonly count: number }[];
}

/** The kinds of files that are loaded. */
export const LOAD_KINDS = ["registry", "exclusions"] as const;

/** One load of a registry or exclusions file. */
export interface LoadDocument {
  readonly _id: string;
  readonly kind: (typeof LOAD_KINDS)[number];
  /** Facts from a withdrawn load count as older than all others. `refused` is the last file of its kind that was refused. */
  readonly state: "running" | "done" | "withdrawn" | "refused";
  readonly file_name: string;
  readonly sha256: string;
  readonly cut_date: IsoDate;
  /** False for a daily file, which says nothing about the entities that it lacks. */
  readonly complete: boolean;
  readonly started_at: Date;
  readonly finished_at?: Date;
  readonly withdrawn?: WithdrawalDocument;
  /** Why the file was refused. */
  readonly refusal?: string;
  /** The counts of its last run. */
  readonly counts?: Readonly<Record<string, number>>;
  /** What all of its runs changed. */
  readonly changes?: LoadChanges;
  /** Version of the rules by which the file was loaded; absent on documents older than this field. */
  readonly rules?: number;
}

/** The withdrawal of a load. */
export interface WithdrawalDocument {
  readonly at: Date;
  /** user@host */
  readonly by: string;
  readonly reason: string;
  /** Absent until everything that the load wrote is restored; until then no file is loaded. */
  readonly finished_at?: Date;
}

/** What one transaction of a load changed. */
export interface ChangePageDocument {
  readonly load_id: string;
  /** Entities of which it made the first version. */
  readonly added: readonly string[];
  readonly changed: readonly {
    readonly entity_id: string;
    readonly version: number;
    /** Fields of the public view, such as `legal_name`, `sam_gov.expiration_date`. */
    readonly fields: readonly string[];
  }[];
  /** Entities that the file before had and this complete one lacks. */
  readonly gone: readonly string[];
  /** Entities that changed in what monitors watch, even if the public view does not show it; absent if none did. */
  readonly watched?: readonly string[];
  /** Those of them that are newly excluded. */
  readonly excluded?: readonly string[];
  /** Those of them that are no longer excluded. */
  readonly cleared?: readonly string[];
  /** The run of the load, until its changes are published. Absent where nothing is to be. */
  readonly unpublished?: ObjectId;
}

/**
 * Changes that are in force and not all published yet, or the begin of a withdrawal; removed once they are. `_id` is the run that
 * was finished.
 */
export interface AnnouncementDocument {
  readonly _id: ObjectId;
  /** The load that was finished, or withdrawn. */
  readonly load_id: string;
  readonly withdrawn: boolean;
  /** The withdrawal has only begun: there are no changes yet. */
  readonly begun?: true;
  /** The runs whose pages are to be published: this one, and earlier ones that were killed. */
  readonly runs: readonly ObjectId[];
  /** Time from which every reader sees the changes; absent until publishing begins. */
  readonly changed_at?: Date;
}

/** The lock of the load that is running: two loads never run at the same time, as each depends on what the other writes. */
export interface LoadLockDocument {
  readonly _id: "load";
  readonly holder: string;
  readonly file_name: string;
  readonly host: string;
  readonly pid: number;
  /** The holder must renew the lock before this time. */
  readonly until: Date;
  /** The database sessions of the holder's writes. */
  readonly sessions: readonly Binary[];
  /** Number of its transactions: each writes to the lock, and so conflicts with a takeover. */
  readonly writes?: number;
}

/** The record of a TIN that was returned in clear. */
export interface TinRevealDocument {
  readonly organization_id: string;
  readonly entity_id: string;
  readonly actor: string;
  readonly request_id: string;
  readonly caller: string;
  readonly at: Date;
}

/** The collections of one environment. */
export interface Collections {
  readonly entities: Collection<EntityDocument>;
  readonly snapshots: Collection<SnapshotDocument>;
  readonly carriedTins: Collection<CarriedTinDocument>;
  readonly remembered: Collection<RememberedDocument>;
  readonly tinReplacements: Collection<TinReplacementDocument>;
  readonly fingerprintKeys: Collection<FingerprintKeyDocument>;
  readonly exclusions: Collection<ExclusionDocument>;
  readonly excludedNames: Collection<ExcludedNameDocument>;
  readonly identifierGuards: Collection<IdentifierGuardDocument>;
  readonly loads: Collection<LoadDocument>;
  readonly quarantine: Collection<QuarantineDocument>;
  readonly changes: Collection<ChangePageDocument>;
  readonly announcements: Collection<AnnouncementDocument>;
  readonly loadLocks: Collection<LoadLockDocument>;
  readonly tinReveals: Collection<TinRevealDocument>;
  /** The number of entities that each organization created, in an environment with a cap. */
  readonly createdCounts: Collection<CapDocument>;
  /** The vendors in the lists of organizations. */
  readonly vendors: Collection<ListedVendorDocument>;
  /** The monitors of those vendors, as far as the list needs them. */
  readonly vendorMonitors: Collection<VendorMonitorDocument>;
}

/** Returns the collections of a database. Undefined fields are never written, whatever the client's options. */
export function collectionsOf(db: Db): Collections {
  const options = { ignoreUndefined: true };
  return {
    entities: db.collection("entities", options),
    snapshots: db.collection("entity_snapshots", options),
    carriedTins: db.collection("entity_identifiers", options),
    remembered: db.collection("remembered_identifiers", options),
    tinReplacements: db.collection("tin_replacements", options),
    fingerprintKeys: db.collection("tin_fingerprint_keys", options),
    exclusions: db.collection("exclusions", options),
    excludedNames: db.collection("excluded_names", options),
    identifierGuards: db.collection("identifier_guards", options),
    loads: db.collection("registry_loads", options),
    quarantine: db.collection("registry_quarantine", options),
    changes: db.collection("registry_changes", options),
    announcements: db.collection("registry_announcements", options),
    loadLocks: db.collection("registry_locks", options),
    tinReveals: db.collection("tin_reveals", options),
    createdCounts: db.collection("entity_counts", options),
    vendors: db.collection("vendors", options),
    vendorMonitors: db.collection("vendor_monitors", options),
  };
}
