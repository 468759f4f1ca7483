import { createHash } from "node:crypto";
import { newId } from "@vvs/ids";
import canonicalize from "canonicalize";
import type { IsoDate } from "./dates.ts";
import type { EntityDocument, SnapshotDocument, UnversionedEntity } from "./documents.ts";
import { publicView } from "./view.ts";

/** Who changed an entity. A registry load has no request. */
export interface Author {
  /** An API key, a user, a monitor, or registry:<file>. */
  readonly actor: string;
  readonly requestId: string;
}

/** A snapshot as the public API shows it, without its hash. */
export interface HashedSnapshot extends Omit<SnapshotDocument, "_id" | "created_at" | "hash"> {
  readonly id: string;
  readonly created_at: string;
}

/**
 * Returns the hash of a snapshot: lower-case hex SHA-256 of the RFC 8785 form of all its other fields. docs/snapshots.md
 * describes how clients can recompute it.
 */
export function snapshotHash(snapshot: HashedSnapshot): string {
  return createHash("sha256").update(canonicalize(snapshot)!, "utf8").digest("hex");
}

/** Returns the fields of a snapshot that the hash covers: those that the public API shows. */
function hashedFields({ _id: id, created_at, ...rest }: Omit<SnapshotDocument, "hash">): HashedSnapshot {
  const { entity_id, organization_id, version, entity, actor, request_id, previous_hash } = rest;
  const shown = { id, entity_id, organization_id, version, entity, actor, request_id, previous_hash };
  return { ...shown, created_at: created_at.toISOString() };
}

/** Returns an entity's next version as it is to be stored, with its snapshot. */
export function nextVersion(options: {
  /** The version from which the change was made; undefined for a new entity. */
  previous: Pick<EntityDocument, "version" | "last_hash" | "changed_at"> | undefined;
  entity: UnversionedEntity;
  author: Author;
  now: Date;
  /** The registry's day, by which the snapshot shows the status. */
  today: IsoDate;
}): { entity: EntityDocument; snapshot: SnapshotDocument } {
  const { previous, entity, author } = options;
  const now = new Date(Math.max(options.now.getTime(), (previous?.changed_at.getTime() ?? 0) + 1));
  const isRegistry = entity.organization_id === null;
  const version = (previous?.version ?? 0) + 1;
  const unhashed: Omit<SnapshotDocument, "hash"> = {
    _id: newId("snp", now),
    entity_id: entity._id,
    ...(!isRegistry && { organization_id: entity.organization_id! }),
    version,
    entity: publicView(entity, options.today),
    actor: author.actor,
    ...(!isRegistry && author.requestId && { request_id: author.requestId }),
    created_at: now,
    ...(previous && { previous_hash: previous.last_hash }),
  };
  const hash = snapshotHash(hashedFields(unhashed));
  const place = { version, last_hash: hash, changed_at: now, ...(!isRegistry && { own_changed_at: now }) };
  return { entity: { ...entity, ...place }, snapshot: { ...unhashed, hash } };
}

/**
 * Checks the snapshots of an entity, in the order of their versions: each hash is that of the snapshot's fields, versions
 * count up from 1 without a gap, each names the hash before it, and the entity names the last one. Returns what is wrong,
 * or undefined.
 */
export function chainFault(
  entity: Pick<EntityDocument, "version" | "last_hash">,
  snapshots: readonly SnapshotDocument[],
): string | undefined {
  let before: SnapshotDocument | undefined;
  for (const snapshot of snapshots) {
    if (snapshot.version !== (before?.version ?? 0) + 1) return `version ${(before?.version ?? 0) + 1} is missing`;
    if (snapshotHash(hashedFields(snapshot)) !== snapshot.hash)
      return `the hash of version ${snapshot.version} is wrong`;
    if (snapshot.previous_hash !== before?.hash) return `version ${snapshot.version} does not follow the one before it`;
    before = snapshot;
  }
  if (before?.version !== entity.version || before.hash !== entity.last_hash) return "the newest version is missing";
  return undefined;
}
