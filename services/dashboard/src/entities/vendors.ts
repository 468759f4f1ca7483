import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { Entity, EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Visit } from "../http/session.ts";

/** Vendors by entity id, as one organization sees them. */
export type Vendors = ReadonlyMap<string, Entity>;

/** Returns the vendors with these ids; undefined while unavailable. */
export type ReadVendors = (visit: Visit, ids: readonly string[]) => Promise<Vendors | undefined>;

/** Short, because pages are complete without the names of vendors. */
const TIMEOUT_MS = 2_000;

/** Creates a ReadVendors that logs errors and never throws. Vendors that do not exist are left out. */
export function createReadVendors(options: {
  entities: Pick<Client<typeof EntityService>, "getEntity">;
  logger: Logger;
}): ReadVendors {
  const { entities, logger } = options;

  async function read(visit: Visit, entityId: string): Promise<Entity | undefined> {
    try {
      const request = { caller: toProtoCaller(visit.caller), entityId };
      return (await entities.getEntity(request, { timeoutMs: TIMEOUT_MS })).entity;
    } catch (error) {
      if (error instanceof ServiceError && error.code === "entity_not_found") return undefined;
      throw error;
    }
  }

  return async (visit, ids) => {
    try {
      const found = await Promise.all([...new Set(ids)].map((id) => read(visit, id)));
      return new Map(found.filter((entity) => entity !== undefined).map((entity) => [entity.id, entity]));
    } catch (error) {
      logger.error({ err: error, request_id: visit.caller.requestId }, "reading vendors failed");
      return undefined;
    }
  };
}
