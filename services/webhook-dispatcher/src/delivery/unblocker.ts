import { createBatcher } from "@vvs/batching";
import type { DueSignals } from "./due-signals.ts";
import type { MonitorOrder } from "./monitor-order.ts";
import type { DeliveryStore, MonitorHead } from "./store.ts";

/** Makes the next event of a monitor due when the first attempt before it has ended. */
export interface Unblocker {
  /**
   * Makes the monitor's first event in the store due, if there is one. Call it when no event of the monitor is leased
   * here any longer. Returns immediately; a failure is left to the orphan sweeper.
   */
  unblockNext(monitorId: string): void;
  /** Makes those of these events due that are blocked, and wakes the due poller. */
  unblock(heads: readonly MonitorHead[]): Promise<void>;
}

export function createUnblocker(options: {
  store: Pick<DeliveryStore, "monitorHeads" | "unblock">;
  order: Pick<MonitorOrder<unknown>, "noteNoneStored">;
  signals: Pick<DueSignals, "wake">;
  now: () => Date;
}): Unblocker {
  const { store, order, signals, now } = options;

  async function unblock(heads: readonly MonitorHead[]): Promise<void> {
    const blocked = heads.filter(({ next_attempt_at }) => next_attempt_at === null);
    if (blocked.length === 0) return;
    await store.unblock(
      blocked.map(({ delivery_id }) => delivery_id),
      now(),
    );
    signals.wake();
  }

  const unblockFirst = createBatcher<string, void>({
    async run(monitorIds) {
      const heads = await store.monitorHeads(monitorIds);
      const owed = new Set(heads.map(({ _id }) => _id));
      for (const id of monitorIds) if (!owed.has(id)) order.noteNoneStored(id);
      await unblock(heads);
      return [];
    },
    maxSize: 500,
    atOnce: 1,
    failsAll: () => true,
  });

  return {
    unblockNext: (monitorId) => void unblockFirst(monitorId).catch(() => undefined),
    unblock,
  };
}
