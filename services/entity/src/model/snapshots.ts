import { createHash } from "node:crypto";
import { newId } from "@vvs/ids";
import canonicalize from "canonicalize";
import type { EntityDocument, PublicEntity, SnapshotDocument } from "./documents.ts";
import { publicView } from "./view.ts";

/** Who changed an entity. A registry load has no request. */
export interface Author {
  /** An API key, a user, a monitor, or registry:<file>. */
  readonly actor: string;
  readonly requestId: string;
}

/** A snapshot as the public API shows it, without its hash: what the hash is over. */
export interface HashedSnapshot {
  readonly id: string;
  readonly entity_id: string;
  readonly organization_id?: string;
  readonly version: number;
  readonly entity: PublicEntity;
  readonly actor: string;
  readonly request_id?: string;
  readonly created_at: string;
  readonly previous_hash?: string;
}

/** An entity before it has a place in its chain of snapshots. */
export type UnversionedEntity = Omit<EntityDocument, "version" | "last_hash" | "changed_at">;

/**
 * The hash of a snapshot: lower-case hex SHA-256 of the RFC 8785 form of all its other fields. docs/snapshots.md of
 * the repository tells how anyone can recompute it.
 */
export function snapshotHash(snapshot: HashedSnapshot): string {
  return createHash("sha256").update(canonicalize(snapshot)!, "utf8").digest("hex");
}

/** The fields of a stored snapshot that the public API shows and the hash is over. */
function hashedFields(snapshot: SnapshotDocument): HashedSnapshot {
  return {
    id: snapshot._id,
    entity_id: snapshot.entity_id,
    ...(snapshot.organization_id && { organization_id: snapshot.organization_id }),
    version: snapshot.version,
    entity: snapshot.entity,
    actor: snapshot.actor,
    ...(snapshot.request_id && { request_id: snapshot.request_id }),
    created_at: snapshot.created_at.toISOString(),
    ...(snapshot.previous_hash && { previous_hash: snapshot.previous_hash }),
  };
}

/** The next link of an entity's chain: the entity as it is to be stored, and the snapshot that goes with it. */
export function nextVersion(options: {
  /** The version that the change was made from; undefined for a new entity. */
  previous: Pick<EntityDocument, "version" | "last_hash" | "changed_at"> | undefined;
  entity: UnversionedEntity;
  author: Author;
  now: Date;
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
    entity: publicView(entity, now),
    actor: author.actor,
    ...(!isRegistry && author.requestId && { request_id: author.requestId }),
    created_at: now,
    ...(previous && { previous_hash: previous.last_hash }),
  };
  const hash = snapshotHash(hashedFields({ ...unhashed, hash: "" }));
  return { entity: { ...entity, version, last_hash: hash, changed_at: now }, snapshot: { ...unhashed, hash } };
}

/**
 * Checks the snapshots of one entity, in order of version: each hash is that of its fields, versions count up from 1
 * without a gap, each names the hash before it, and the last is the one the entity names. Returns what is wrong, in
 * words, or undefined.
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
