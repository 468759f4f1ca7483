import { ServiceError } from "@vvs/errors";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { AppOptions } from "../app-options.ts";
import type { Visit } from "../http/session.ts";

/** Vendors by entity id, as one organization sees them. */
export type Vendors = ReadonlyMap<string, Entity>;

/** Returns the vendors of items such as monitors; undefined while unavailable. Test events have made-up vendors, which are left out. */
export type ReadVendors = (
  visit: Visit,
  items: readonly { readonly entityId: string; readonly test?: boolean }[],
) => Promise<Vendors | undefined>;

/** Short, because pages are complete without the names of vendors. */
const TIMEOUT_MS = 2_000;

/** Creates a ReadVendors that logs errors and never throws. Vendors that do not exist are left out. */
export function createReadVendors({ entities, logger }: Pick<AppOptions, "entities" | "logger">): ReadVendors {
  async function read(visit: Visit, entityId: string): Promise<Entity | undefined> {
    try {
      const request = { caller: visit.caller, entityId };
      return (await entities.getEntity(request, { timeoutMs: TIMEOUT_MS })).entity;
    } catch (error) {
      if (error instanceof ServiceError && error.code === "entity_not_found") return undefined;
      throw error;
    }
  }

  return async (visit, items) => {
    try {
      const ids = new Set(items.filter(({ test }) => !test).map(({ entityId }) => entityId));
      const found = await Promise.all([...ids].map((id) => read(visit, id)));
      return new Map(found.filter((entity) => entity !== undefined).map((entity) => [entity.id, entity]));
    } catch (error) {
      logger.error({ err: error, request_id: visit.caller.requestId }, "reading vendors failed");
      return undefined;
    }
  };
}
