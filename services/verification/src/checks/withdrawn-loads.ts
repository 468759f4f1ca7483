import { withoutDeadline } from "@vvs/deadline";
import { outside } from "@vvs/fair-queue";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type Environment, perEnvironment, toProtoEnvironment } from "@vvs/tenant";
import { readOwnData } from "../own-data.ts";

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
    let copy: { readonly loads: ReadonlySet<string>; readonly askedAt: number } | undefined;
    let asking: Promise<ReadonlySet<string>> | undefined;

    async function ask(): Promise<ReadonlySet<string>> {
      const askedAt = clock();
      const request = { environment: toProtoEnvironment(environment) };
      const listed = await readOwnData(() => entities.listWithdrawnLoads(request));
      copy = { loads: new Set(listed.loads), askedAt };
      return copy.loads;
    }

    function askOnce(): Promise<ReadonlySet<string>> {
      // Not limited by the first caller, which may give up: the answer is for all callers that wait.
      asking ??= withoutDeadline(ask).finally(() => {
        asking = undefined;
      });
      return asking;
    }

    return async () => (copy && clock() - copy.askedAt <= MAX_AGE_MS ? copy.loads : outside(askOnce));
  });
  return (environment) => copies[environment]();
}
