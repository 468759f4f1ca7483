import { createHash } from "node:crypto";
import type { Snapshot } from "@vvs/proto/entity/v1/entity";
import canonicalize from "canonicalize";

/** A field of an entity that differs from the previous version; "" means that it was absent. */
export interface Change {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** A version of an entity, as shown in its history. */
export interface HistoryEntry {
  readonly snapshot: Snapshot;
  /** Undefined for the first version. */
  readonly changes: readonly Change[] | undefined;
  /** Why the chain is broken here; undefined if the recomputed hash is correct and the previous hash matches. */
  readonly fault: string | undefined;
}

/**
 * Returns versions of one entity, newest first, each with its changes and whether the chain is intact there. `older` is
 * the version before the last one in the list; undefined if that is the entity's first version.
 */
export function historyOf(snapshots: readonly Snapshot[], older: Snapshot | undefined): HistoryEntry[] {
  return snapshots.map((snapshot, index) => {
    const before = snapshots[index + 1] ?? older;
    return { snapshot, changes: before && changesBetween(before, snapshot), fault: faultOf(snapshot, before) };
  });
}

function faultOf(snapshot: Snapshot, before: Snapshot | undefined): string | undefined {
  if (recomputedHash(snapshot) !== snapshot.hash) return "The hash does not match the content.";
  if (snapshot.previousHash !== (before?.hash ?? "")) return "The hash of the previous version is wrong.";
  return snapshot.version === (before?.version ?? 0) + 1 ? undefined : "The previous version is missing.";
}

/** Computes the hash of a snapshot as docs/snapshots.md describes: SHA-256 over the RFC 8785 form of all other public fields. */
function recomputedHash(snapshot: Snapshot): string {
  const { id, entityId, organizationId, version, entity, actor, requestId, createdAt, previousHash } = snapshot;
  const content = {
    id,
    entity_id: entityId,
    ...(organizationId && { organization_id: organizationId }),
    version,
    entity,
    actor,
    ...(requestId && { request_id: requestId }),
    created_at: createdAt,
    ...(previousHash && { previous_hash: previousHash }),
  };
  return createHash("sha256").update(canonicalize(content)!, "utf8").digest("hex");
}

function changesBetween(before: Snapshot, after: Snapshot): Change[] {
  const [old, current] = [factsOf(before.entity), factsOf(after.entity)];
  return [...new Set([...old.keys(), ...current.keys()])]
    .map((field) => ({ field, before: old.get(field) ?? "", after: current.get(field) ?? "" }))
    .filter((change) => change.before !== change.after);
}

type Json = Snapshot["entity"];

/** Returns the fields to compare, each as one text: an address is one field, and a source is its name and version. */
function factsOf(entity: Json): Map<string, string> {
  const facts = new Map<string, string>();
  const { legal_name, identifiers, sam_gov, addresses, sources } = (entity ?? {}) as Record<string, unknown>;
  facts.set("legal_name", textOf(legal_name));
  for (const [group, values] of Object.entries({ identifiers, sam_gov })) {
    for (const [name, value] of Object.entries((values ?? {}) as object)) facts.set(`${group}.${name}`, textOf(value));
  }
  for (const { type, ...lines } of listOf(addresses)) {
    facts.set(
      `${textOf(type)} address`,
      ["line1", "line2", "city", "state", "zip", "country"]
        .map((part) => textOf(lines[part]))
        .filter(Boolean)
        .join(", "),
    );
  }
  facts.set(
    "sources",
    listOf(sources)
      .map(({ name, version }) => [textOf(name), textOf(version)].filter(Boolean).join(" "))
      .join(", "),
  );
  return facts;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}
