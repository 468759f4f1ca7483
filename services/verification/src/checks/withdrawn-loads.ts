import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type Environment, perEnvironment, toProtoEnvironment } from "@vvs/tenant";
import { createCopy, readOwnData } from "../own-data.ts";

/** Maximum age of the copy of the withdrawn loads, in milliseconds. */
const MAX_AGE_MS = 1_000;

/** Returns the loads of an environment that were withdrawn. Errors: service_unavailable where entity can't be asked. */
export type ReadWithdrawnLoads = (environment: Environment) => Promise<ReadonlySet<string>>;

/**
 * Creates the reader of withdrawn loads, from a copy that is at most a second old; calls that need a newer one share the
 * question to entity. So ask after reading the answer that may come from one of them. `clock` is in milliseconds.
 */
export function createReadWithdrawnLoads(options: {
  entities: Pick<Client<typeof EntityService>, "listWithdrawnLoads">;
  clock: () => number;
}): ReadWithdrawnLoads {
  const { entities, clock } = options;
  const copies = perEnvironment((environment) => {
    const request = { environment: toProtoEnvironment(environment) };
    const ask = () => readOwnData(() => entities.listWithdrawnLoads(request));
    return createCopy({ read: async () => new Set((await ask()).loads), maxAgeMs: MAX_AGE_MS, clock });
  });
  return (environment) => copies[environment]();
}
