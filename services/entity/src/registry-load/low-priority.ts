import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

const THREADS = "/proc/self/task";

/**
 * Gives this process a low priority. On Linux each thread has its own priority, and V8's threads for garbage collection
 * are already running.
 */
export function lowerPriority(): void {
  const low = constants.priority.PRIORITY_BELOW_NORMAL;
  // A process that was started with a lower priority may not raise it.
  if (getPriority() >= low) return;
  setPriority(low);
  if (process.platform !== "linux") return;
  for (const thread of readdirSync(THREADS)) {
    try {
      setPriority(Number(thread), low);
    } catch {
      // The thread has ended.
    }
  }
}
