import type { TopicPartitionOffset } from "kafkajs";

/** Offsets are collected for this long before a commit; records not committed before a crash come again. */
const EVERY_MS = 100;
/** Wait after a commit that failed. */
const AGAIN_MS = 1_000;

/** Commits finished records, one commit at a time, so that an older one never follows a newer one. */
export function createCommitter(options: {
  committable(): TopicPartitionOffset[];
  commit(offsets: TopicPartitionOffset[]): Promise<void>;
}) {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let finished = false;

  function commit(): Promise<void> {
    current = current
      .catch(() => undefined)
      .then(async () => {
        const offsets = options.committable();
        if (offsets.length > 0) await options.commit(offsets);
      });
    return current;
  }

  function schedule(delayMs: number): void {
    if (finished) return;
    timer ??= setTimeout(async () => {
      const nextMs = await commit().then(
        () => EVERY_MS,
        () => AGAIN_MS,
      );
      timer = undefined;
      if (options.committable().length > 0) schedule(nextMs);
    }, delayMs);
  }

  return {
    /** Schedules a commit, which is repeated while it fails. Call it after a record was finished. */
    soon: () => schedule(EVERY_MS),
    /** Commits immediately, for the last time. Errors: the commit's. */
    async finish(): Promise<void> {
      finished = true;
      clearTimeout(timer);
      await commit();
    },
  };
}
