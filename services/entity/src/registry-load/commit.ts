import { isDeepStrictEqual } from "node:util";
import { registryDay } from "@vvs/registration";
import canonicalize from "canonicalize";
import type { AnyBulkWriteOperation } from "mongodb";
import type { IsoDate } from "../model/dates.ts";
import type {
  ChangePageDocument,
  EntityDocument,
  PublicEntity,
  SnapshotDocument,
  UnversionedEntity,
} from "../model/documents.ts";
import { asReadBefore, StaleEntityError } from "../model/entity-writes.ts";
import { nextVersion } from "../model/snapshots.ts";
import { publicView } from "../model/view.ts";
import { listTakeovers, unlistTakeovers } from "../vendor-list/taken-over.ts";
import { type RecordedRun, recordChanges } from "./change-log.ts";
import type { Transact } from "./load-lock.ts";
import { type WatchedEffect, watchedEffect } from "./watched-effect.ts";

/** An entity before and after a change. */
export interface EntityChange {
  readonly previous: EntityDocument | undefined;
  readonly entity: UnversionedEntity;
  /** A complete file lacks the entity: it is recorded as gone, and not as changed. */
  readonly isGone?: boolean;
}

/** The outcome of a change; `unseen` is one that the public view does not show, so it has no snapshot. */
export type ChangeOutcome = "new" | "changed" | "unseen" | "unchanged";

/** Where and how a load writes. */
export interface LoadTarget extends RecordedRun {
  /** Commits only if no other load has taken over. */
  readonly transact: Transact;
  /** The author of the snapshots. */
  readonly actor: string;
  readonly now: Date;
}

interface Writes {
  readonly inserts: EntityDocument[];
  readonly updates: AnyBulkWriteOperation<EntityDocument>[];
  readonly snapshots: SnapshotDocument[];
  readonly changed: ChangePageDocument["changed"][number][];
  readonly gone: string[];
  readonly effects: Map<string, WatchedEffect>;
  /** Own entities that take registry entities over. */
  readonly takers: UnversionedEntity[];
  /** Own entities, as they were, that no longer stand for the registry entities that they took over. */
  readonly leavers: EntityDocument[];
}

/**
 * Writes changes, their snapshots and the record of them: all or none. A change only of the sources is not written.
 * Errors: StaleEntityError or a duplicate key if another call wrote an entity meanwhile; read again.
 */
export async function commitChanges(target: LoadTarget, changes: readonly EntityChange[]): Promise<ChangeOutcome[]> {
  const writes: Writes = {
    inserts: [],
    updates: [],
    snapshots: [],
    changed: [],
    gone: [],
    effects: new Map(),
    takers: [],
    leavers: [],
  };
  const at = { now: target.now, today: registryDay(target.now) };
  const outcomes = changes.map((change) => collect(change, { actor: target.actor, ...at }, writes));
  if (writes.inserts.length > 0 || writes.updates.length > 0) await write(target, writes);
  return outcomes;
}

function collect(
  { previous, entity, isGone = false }: EntityChange,
  { actor, now, today }: Pick<LoadTarget, "actor" | "now"> & { today: IsoDate },
  writes: Writes,
): ChangeOutcome {
  if (previous && !previous.registry_entity_id && entity.registry_entity_id) writes.takers.push(entity);
  if (previous?.registry_entity_id && !entity.registry_entity_id) writes.leavers.push(previous);
  const fields = previous ? changedFields(publicView(previous, today), publicView(entity, today)) : [];
  if (previous && fields.length === 0) {
    if (storedText(previous) === storedText(entity)) return "unchanged";
    const { version, last_hash, changed_at } = previous;
    const revision = (previous.revision ?? 0) + 1;
    noteEffect({ previous, entity, isGone }, today, writes);
    writes.updates.push(update(previous, { ...entity, version, revision, last_hash, changed_at }));
    return "unseen";
  }
  const next = nextVersion({ previous, entity, author: { actor, requestId: "" }, now, today });
  writes.snapshots.push(next.snapshot);
  if (!previous) {
    writes.inserts.push(next.entity);
    return "new";
  }
  writes.updates.push(update(previous, next.entity));
  noteEffect({ previous, entity, isGone }, today, writes);
  if (!isGone) writes.changed.push({ entity_id: entity._id, version: next.entity.version, fields });
  return "changed";
}

function noteEffect({ previous, entity, isGone }: EntityChange, today: IsoDate, { gone, effects }: Writes): void {
  if (isGone) return void gone.push(entity._id);
  const effect = previous && watchedEffect(previous, entity, today);
  if (effect) effects.set(entity._id, effect);
}

function write(target: LoadTarget, writes: Writes): Promise<void> {
  const { transact, collections } = target;
  const { inserts, updates, snapshots, changed, gone, effects, takers, leavers } = writes;
  const added = inserts.map(({ _id }) => _id);
  const isRecorded = snapshots.length > 0 || effects.size > 0 || gone.length > 0;
  return transact(async (session) => {
    if (inserts.length > 0) await collections.entities.insertMany(inserts, { session });
    if (updates.length > 0) {
      const written = await collections.entities.bulkWrite(updates, { session, ordered: false });
      if (written.matchedCount !== updates.length) {
        throw new StaleEntityError("an entity changed after it was read");
      }
    }
    if (snapshots.length > 0) await collections.snapshots.insertMany(snapshots, { session });
    if (takers.length > 0) await listTakeovers(collections, session, takers);
    if (leavers.length > 0) await unlistTakeovers(collections, session, leavers);
    if (isRecorded) await recordChanges(target, session, { added, changed, gone, effects });
  });
}

/**
 * Returns an update that sets only the fields that differ. If an update sets any indexed field, MongoDB writes all indexes of
 * the entity again, which in a transaction takes ten times longer than the rest. Exclusions set no indexed field.
 */
function update(previous: EntityDocument, entity: EntityDocument): AnyBulkWriteOperation<EntityDocument> {
  const [before, after]: Readonly<Record<string, unknown>>[] = [{ ...previous }, { ...entity }];
  const names = [...new Set([...Object.keys(before!), ...Object.keys(after!)])];
  const differing = names.filter((name) => !isDeepStrictEqual(before![name], after![name]));
  const { set = [], unset = [] } = Object.groupBy(differing, (name) => (after![name] === undefined ? "unset" : "set"));
  const $set = Object.fromEntries(set.map((name) => [name, after![name]]));
  const $unset = Object.fromEntries(unset.map((name) => [name, true as const]));
  return { updateOne: { filter: asReadBefore(previous), update: { $set, ...(unset.length > 0 && { $unset }) } } };
}

function storedText(entity: Partial<EntityDocument>): string | undefined {
  const { version, revision, last_hash, changed_at, own_changed_at, sources, ...rest } = entity;
  return canonicalize(rest);
}

/** Returns the fields that differ, such as `legal_name` or `sam_gov.cage`; the sources don't count. */
function changedFields(before: PublicEntity, after: PublicEntity): string[] {
  const fields: string[] = [];
  if (before.legal_name !== after.legal_name) fields.push("legal_name");
  for (const group of ["identifiers", "sam_gov"] as const) {
    const [old, current]: Readonly<Record<string, string | undefined>>[] = [before[group], after[group]];
    const names = new Set([...Object.keys(old!), ...Object.keys(current!)]);
    for (const name of names) if (old![name] !== current![name]) fields.push(`${group}.${name}`);
  }
  if (!isDeepStrictEqual(before.addresses, after.addresses)) fields.push("addresses");
  return fields;
}
