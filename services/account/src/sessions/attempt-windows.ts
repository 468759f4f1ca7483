import type { AccountStore } from "../store.ts";

/** How many attempts a window of time has. */
export interface AttemptLimit {
  readonly attempts: number;
  readonly windowMs: number;
}

export interface AttemptWindows {
  /** Counts an attempt, and returns when the window ends if that was one too many. A window begins with its first attempt. */
  take(id: string, limit: AttemptLimit): Promise<Date | undefined>;
  /** One attempt does not count. */
  giveBack(id: string): Promise<void>;
  /** None of the attempts so far count. */
  forget(id: string): Promise<void>;
}

/** Attempts in windows of time, counted for all replicas. */
export function createAttemptWindows(options: { store: AccountStore; now: () => Date }): AttemptWindows {
  const { store, now } = options;
  return {
    async take(id, { attempts, windowMs }) {
      const at = now();
      const isOpen = { $gt: ["$window_ends_at", at] };
      const counted = await store.signInLimits.findOneAndUpdate(
        { _id: id },
        [
          {
            $set: {
              attempts: { $cond: [isOpen, { $add: ["$attempts", 1] }, 1] },
              window_ends_at: { $cond: [isOpen, "$window_ends_at", new Date(at.getTime() + windowMs)] },
            },
          },
        ],
        { upsert: true, returnDocument: "after" },
      );
      return counted!.attempts > attempts ? counted!.window_ends_at : undefined;
    },

    async giveBack(id) {
      await store.signInLimits.updateOne({ _id: id }, { $inc: { attempts: -1 } });
    },

    async forget(id) {
      await store.signInLimits.deleteOne({ _id: id });
    },
  };
}
