import type { Logger } from "@vvs/logging";
import { forAged, superviseAging } from "@vvs/mongo";
import type { SupervisedLoop } from "@vvs/retry";
import { REQUESTS_KEPT_DAYS } from "../model/logged-requests.ts";
import type { AccountStore } from "../store.ts";

interface Retention {
  readonly store: Pick<AccountStore, "requestLog">;
  readonly newest: number;
  readonly stopping: AbortSignal;
}

/** Removes the sandbox's oldest requests beyond an organization's number, but none younger than a day. Returns how many. */
export function removeSurplus({ store, newest, stopping, now }: Retention & { now: Date }): Promise<number> {
  const { requestLog } = store;
  const scope = { environment: "sandbox" } as const;
  const aging = { scope, filter: {}, keeping: { days: REQUESTS_KEPT_DAYS, newest }, now, stopping };
  return forAged(requestLog, aging, async (organization_id, ids) => {
    return (await requestLog.deleteMany({ _id: { $in: ids }, organization_id, ...scope })).deletedCount;
  });
}

/** Removes the sandbox's surplus requests from time to time. */
export function runSandboxRetention(options: Retention & { now: () => Date; logger: Logger }): SupervisedLoop {
  const { store, newest, ...more } = options;
  return superviseAging({
    ...more,
    round: (now) => removeSurplus({ store, newest, stopping: options.stopping, now }),
    done: "surplus sandbox requests were removed",
    counted: "removed",
    failure: "surplus sandbox requests can't be removed; retrying",
    recovery: "surplus sandbox requests are removed again",
  });
}
