import type { CapDocument } from "@vvs/mongo";
import type { Binary, Collection, Db } from "mongodb";
import type { IsoDate } from "./dates.ts";
import type { Address, StatusFacts } from "./facts.ts";

/** The identifiers that may be shown to anyone. A TIN is kept apart, sealed. */
export type PublicIdentifierType = "uei" | "cage" | "duns";
export type PublicIdentifiers = { readonly [T in PublicIdentifierType]?: string };

/** What a registry or a provider says of a registration. */
export interface SamFacts {
  readonly sam_registered: boolean;
  readonly listed_as: StatusFacts["listedAs"];
  readonly expiration_date?: IsoDate;
  /** The source itself flags an active exclusion. */
  readonly excluded: boolean;
  readonly cage?: string;
  readonly entity_type?: string;
}

/** When an exclusion that concerns the entity is in force. */
export interface ExclusionPeriodDocument {
  readonly active_date?: IsoDate;
  readonly termination_date?: IsoDate | "indefinite";
}

export interface SourceDocument {
  readonly name: string;
  readonly retrieved_at: Date;
  readonly version?: string;
}

/** By what a name or an address is found again; made anew whenever either changes. */
export interface MatchKeys {
  /** Of the legal name alone, for exact look-ups. */
  readonly name_keys: readonly string[];
  /** Of all names, for fuzzy look-ups. */
  readonly candidate_keys: readonly string[];
  readonly address_keys: readonly string[];
  /** By which version of the rules they were made; absent before versions were kept. */
  readonly match_version?: number;
}

/** An entity: of the registry where `organization_id` is null, else of the organization that created it. */
export interface EntityDocument extends MatchKeys {
  readonly _id: string;
  readonly organization_id: string | null;
  /** The number of its newest snapshot, and that snapshot's hash: what a change must have seen. */
  readonly version: number;
  readonly last_hash: string;
  readonly legal_name: string;
  /** The legal name was made up, since none was supplied: it matches nothing. */
  readonly placeholder: boolean;
  readonly other_names: readonly string[];
  readonly identifiers: PublicIdentifiers;
  /** On own entities: the public identifiers as "type:value", unique in the organization. */
  readonly claims?: readonly string[];
  /** On own entities that carry a TIN. */
  readonly tin_last4?: string;
  /** Absent until a registry or a provider says something. */
  readonly sam?: SamFacts;
  /** Those that are not over, of the loaded exclusions file. */
  readonly exclusions: readonly ExclusionPeriodDocument[];
  readonly addresses: readonly Address[];
  readonly sources: readonly SourceDocument[];
  /** On own entities: keyed hash of what the creation said, so that the same again is the same entity. */
  readonly content_hash?: Binary;
  /** Which key hashed it; absent where it was stored before that was noted. */
  readonly content_hash_key_id?: string;
  /** On own entities: the registry entity whose row it took over, hidden in its organization. */
  readonly registry_entity_id?: string;
  /** On registry entities: the newest complete file has it. */
  readonly listed?: boolean;
  /** On registry entities: what the row last applied said. Absent where it was stored before that was noted. */
  readonly registry_row?: RegistryRowDocument;
  readonly created_at: Date;
  /** Number of writes that made no version, as what they changed is not shown. */
  readonly revision?: number;
  /** When its newest snapshot was made: the next is later, if only by a millisecond, so that lists keep their order. */
  readonly changed_at: Date;
}

/** The row that an entity was last made from. */
export interface RegistryRowDocument {
  /** "" for the entity's main row, else that of a further payment address. */
  readonly eft_indicator: string;
  /** Of its facts: a row with the same hash changes nothing. */
  readonly hash: string;
  /** The load that brought it. Absent in the sandbox, which loads no files. */
  readonly load_id?: string;
}

/** An entity as look-ups find it, without what it was found by. */
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

/** A secret at rest, and which key sealed it. */
export interface SealedDocument {
  readonly key_id: string;
  readonly box: Binary;
}

/**
 * A TIN at rest: sealed for those who may ask a provider with it, hashed to be found, its end to be shown. Keys rotate;
 * the fingerprint, by a key of the organization's own, stays.
 */
export interface TinDocument {
  readonly sealed: SealedDocument;
  readonly hash: Binary;
  /** Which key hashed it; absent where it was stored before that was noted. */
  readonly hash_key_id?: string;
  /** Absent where it was stored before TINs had fingerprints: then the hash is it. */
  readonly fingerprint?: Binary;
  readonly last4: string;
}

/** The TIN that an own entity carries; `_id` is the entity's. */
export interface CarriedTinDocument extends TinDocument {
  readonly _id: string;
  readonly organization_id: string;
}

/** What one organization remembers of a registry entity beyond what that carries. */
export interface RememberedDocument extends Partial<TinDocument> {
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly type: PublicIdentifierType | "tin";
  /** Of any type but tin. */
  readonly value?: string;
}

/** The key that fingerprints an organization's TINs, itself sealed; `_id` is the organization's. */
export interface FingerprintKeyDocument {
  readonly _id: string;
  readonly sealed: SealedDocument;
}

/**
 * One row of the exclusions files that names a UEI or a CAGE; `_id` is the row's key. A row that a newer file lacks has
 * ended, and stays: SAM.gov publishes no history of it.
 */
export interface ExclusionDocument extends ExclusionPeriodDocument {
  readonly _id: string;
  /** The last load that had it. */
  readonly load_id: string;
  /** The last load that added it or changed what it says, and what it said before; absent where that load added it. */
  readonly changed_by?: string;
  readonly before?: ExclusionDocument;
  /** Cut date of the first file that had it. */
  readonly first_seen: IsoDate;
  /** Cut date of the newest file that had it. */
  readonly last_seen: IsoDate;
  /** The first load that lacked it, and that file's cut date; absent while the newest file has the row. */
  readonly ended_by?: string;
  readonly ended_on?: IsoDate;
  readonly sam_number: string;
  readonly uei?: string;
  readonly cage?: string;
  readonly exclusion_type: string;
  readonly program: string;
  readonly agency: string;
}

/**
 * Written by whoever writes an entity with this UEI or CAGE by what the exclusions or the registry say, and by whoever
 * changes those: of two at the same time one waits, or begins again. `_id` is "uei:…" or "cage:…".
 */
export interface IdentifierGuardDocument {
  readonly _id: string;
  readonly writes: number;
  /** When it was last written; it is removed a day later. */
  readonly at: Date;
}

/** One load of a registry or exclusions file. */
export interface LoadDocument {
  readonly _id: string;
  readonly kind: "registry" | "exclusions";
  /** What came from a withdrawn load counts as older than everything. */
  readonly state: "running" | "done" | "withdrawn";
  readonly file_name: string;
  readonly sha256: string;
  readonly cut_date: IsoDate;
  readonly started_at: Date;
  readonly finished_at?: Date;
  readonly withdrawn?: WithdrawalDocument;
  /** What its last run came to. */
  readonly counts?: Readonly<Record<string, number>>;
  /** What it changed in all its runs, and in which fields of the public view. */
  readonly changes?: {
    readonly added: number;
    readonly changed: number;
    readonly gone: number;
    readonly fields: readonly { readonly field: string; readonly count: number }[];
  };
}

/** That a load was taken back. */
export interface WithdrawalDocument {
  readonly at: Date;
  /** user@host */
  readonly by: string;
  readonly reason: string;
  /** Absent until all that it had written is taken back; no file is loaded before. */
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
    /** Of the public view, as `legal_name`, `sam_gov.expiration_date`. */
    readonly fields: readonly string[];
  }[];
  /** Entities that a complete file lacks, which the one before had. */
  readonly gone: readonly string[];
}

/** Who loads files now: no two loads work at once, as each decides by what the other writes. */
export interface LoadLockDocument {
  readonly _id: "load";
  readonly holder: string;
  readonly file_name: string;
  readonly host: string;
  readonly pid: number;
  /** It has to say until then that it is still there. */
  readonly until: Date;
  /** The database sessions that it writes in. */
  readonly sessions: readonly Binary[];
  /** Number of its transactions: each writes to the lock, and so conflicts with who takes over. */
  readonly writes?: number;
}

/** A row that was not applied, and why. */
export interface QuarantineDocument {
  readonly load_id: string;
  readonly line_number: number;
  readonly reason: string;
}

/** That a TIN was handed out in clear. */
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
  readonly fingerprintKeys: Collection<FingerprintKeyDocument>;
  readonly exclusions: Collection<ExclusionDocument>;
  readonly identifierGuards: Collection<IdentifierGuardDocument>;
  readonly loads: Collection<LoadDocument>;
  readonly quarantine: Collection<QuarantineDocument>;
  readonly changes: Collection<ChangePageDocument>;
  readonly loadLocks: Collection<LoadLockDocument>;
  readonly tinReveals: Collection<TinRevealDocument>;
  /** How many entities each organization created, where that has a cap. */
  readonly createdCounts: Collection<CapDocument>;
}

/** The collections of a database. An undefined field is never written, whatever the client's options. */
export function collectionsOf(db: Db): Collections {
  const options = { ignoreUndefined: true };
  return {
    entities: db.collection("entities", options),
    snapshots: db.collection("entity_snapshots", options),
    carriedTins: db.collection("entity_identifiers", options),
    remembered: db.collection("remembered_identifiers", options),
    fingerprintKeys: db.collection("tin_fingerprint_keys", options),
    exclusions: db.collection("exclusions", options),
    identifierGuards: db.collection("identifier_guards", options),
    loads: db.collection("registry_loads", options),
    quarantine: db.collection("registry_quarantine", options),
    changes: db.collection("registry_changes", options),
    loadLocks: db.collection("registry_locks", options),
    tinReveals: db.collection("tin_reveals", options),
    createdCounts: db.collection("entity_counts", options),
  };
}
