import { createHash } from "node:crypto";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EntityService, type SnapshotSchema } from "@vvs/proto/entity/v1/entity";
import canonicalize from "canonicalize";
import { fakePart, findIn } from "./fake-part.ts";
import { type FakeState, failIfAsked } from "./fake-state.ts";

export const ENTITY_ID = "ent_01m7ygrfd7fvwr2n2apeh0ddm8";

type Snapshot = MessageInitShape<typeof SnapshotSchema>;

/** Versions of one entity, oldest first, with valid hashes. */
export function chainOf(...versions: readonly JsonObject[]): Snapshot[] {
  const chain: Snapshot[] = [];
  for (const [index, entity] of versions.entries()) {
    const previous = chain.at(-1)?.hash;
    const fields = {
      id: `snp_01m7ygvppkf9m8p9ecpfzd1xa${index}`,
      entity_id: ENTITY_ID,
      version: index + 1,
      entity,
      actor: index === 0 ? "registry:monthly.dat" : "usr_1",
      created_at: `2026-11-21T09:3${index}:00.000Z`,
      ...(previous && { previous_hash: previous }),
    };
    chain.push({
      id: fields.id,
      entityId: ENTITY_ID,
      version: fields.version,
      entity,
      actor: fields.actor,
      createdAt: fields.created_at,
      previousHash: previous,
      hash: createHash("sha256").update(canonicalize(fields)!, "utf8").digest("hex"),
    });
  }
  return chain;
}

const iso = (at: Timestamp) => timestampDate(at).toISOString();

/** Simulates the entity service. */
export function entityPart(state: FakeState) {
  const find = (entityId: string) => findIn(state.entities, entityId, "entity_not_found");
  return fakePart(EntityService, state, {
    recorded: { lookUp: async () => state.found },
    quiet: {
      async getEntity({ entityId, externalId }) {
        if (externalId !== "") failIfAsked(state, "checkExternalId");
        return { entity: find(entityId), tinFingerprint: state.tinFingerprint };
      },
      async listEntities({ externalId }) {
        return { entities: state.entities.filter((each) => externalId === "" || each.externalId === externalId) };
      },
      async listSnapshots({ page }) {
        const { limit = 0, after } = page ?? {};
        const isBefore = ({ createdAt, id }: Snapshot) =>
          !after || createdAt! < iso(after.createdAt!) || (createdAt === iso(after.createdAt!) && id! < after.id);
        const first = state.snapshots.findIndex(isBefore);
        const from = first < 0 ? state.snapshots.length : first;
        const snapshots = state.snapshots.slice(from, from + limit);
        const last = snapshots.at(-1);
        const hasOlder = from + limit < state.snapshots.length;
        const next = hasOlder && last && { createdAt: timestampFromDate(new Date(last.createdAt!)), id: last.id! };
        return { snapshots, next: next || undefined };
      },
      async setExternalId({ entityId, externalId }) {
        state.calls.push(`setExternalId ${entityId} ${JSON.stringify(externalId)}`);
        return { entity: Object.assign(find(entityId), { externalId }) };
      },
      listTinReplacements: async () => ({ replacements: state.tinReplacements }),
    },
  });
}
