import { createBatcher } from "@vvs/batching";
import type { DueSignals } from "./due-signals.ts";
import type { MonitorOrder } from "./monitor-order.ts";
import type { DeliveryStore } from "./store.ts";

export type Unblocker = ReturnType<typeof createUnblocker>;

/** Makes the next event of a monitor due when the first attempt before it has ended. */
export function createUnblocker(options: {
  store: Pick<DeliveryStore, "monitorHeads" | "unblock">;
  order: Pick<MonitorOrder<unknown>, "noteNoneStored">;
  signals: Pick<DueSignals, "wake">;
  now: () => Date;
}) {
  const { store, order, signals, now } = options;

  const unblockFirst = createBatcher<string, void>({
    async run(monitorIds) {
      const heads = await store.monitorHeads(monitorIds);
      const owed = new Set(heads.map(({ monitor_id }) => monitor_id));
      for (const id of monitorIds) if (!owed.has(id)) order.noteNoneStored(id);
      const blocked = heads.filter(({ next_attempt_at }) => next_attempt_at === null).map(({ _id }) => _id);
      if (blocked.length === 0) return [];
      await store.unblock(blocked, now());
      signals.wake();
      return [];
    },
    maxSize: 500,
    atOnce: 1,
    failsAll: () => true,
  });

  return {
    /**
     * Makes the monitor's first event in the store due, if it is blocked. Call it when no event of the monitor is leased
     * here any longer. Returns immediately; a failure is left to the orphan sweeper.
     */
    unblockNext: (monitorId: string) => void unblockFirst(monitorId).catch(() => undefined),
  };
}
