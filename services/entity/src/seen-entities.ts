import { registryDay } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import type { FoundEntity } from "./model/documents.ts";
import { publicView, toProtoEntity } from "./model/view.ts";
import { type EntityStore, externalIdIn } from "./store.ts";

export type SeenEntities = ReturnType<typeof createSeenEntities>;

/** Creates a function that returns entities as messages, in their order, as one organization sees them now. */
export function createSeenEntities({ store, now }: { store: Pick<EntityStore, "rememberedOf">; now: () => Date }) {
  return async (tenant: Tenant, entities: readonly FoundEntity[]) => {
    const remembered = await store.rememberedOf(tenant, entities);
    const today = registryDay(now());
    return entities.map((entity) => {
      const supplied = remembered.get(entity._id);
      const number = externalIdIn(entity, supplied)?.external_id;
      return toProtoEntity(publicView(entity, today, supplied), entity.created_at, number);
    });
  };
}
