import { createHash } from "node:crypto";
import type { Snapshot } from "@vvs/proto/entity/v1/entity";
import canonicalize from "canonicalize";

/** A fact of an entity that one version has otherwise than the one before; "" where it was not there. */
export interface Change {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** A version of an entity as people look at it. */
export interface HistoryEntry {
  readonly snapshot: Snapshot;
  /** Undefined for the first version. */
  readonly changes: readonly Change[] | undefined;
  /** What is wrong with its place in the chain; undefined where its hash was recomputed and follows the one before. */
  readonly fault: string | undefined;
}

/**
 * Versions of one entity, newest first, each with what it changed and whether the chain holds there. `older` is the one
 * before the last of them, undefined where the last is the first of all.
 */
export function historyOf(snapshots: readonly Snapshot[], older: Snapshot | undefined): HistoryEntry[] {
  return snapshots.map((snapshot, index) => {
    const before = snapshots[index + 1] ?? older;
    return { snapshot, changes: before && changesBetween(before, snapshot), fault: faultOf(snapshot, before) };
  });
}

function faultOf(snapshot: Snapshot, before: Snapshot | undefined): string | undefined {
  if (recomputedHash(snapshot) !== snapshot.hash) return "The hash is not that of the content.";
  if (snapshot.previousHash !== (before?.hash ?? "")) return "It does not name the hash of the version before.";
  return snapshot.version === (before?.version ?? 0) + 1 ? undefined : "The version before it is missing.";
}

/** The hash of a snapshot as docs/snapshots.md tells: SHA-256 over the RFC 8785 form of all other public fields. */
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

/** The facts that people compare, each as one text: an address is one, and of a source its name and file. */
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
