import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

const THREADS = "/proc/self/task";

/**
 * Lets other processes go before this one. On Linux a priority is a thread's own, and the ones that clear V8's heap began
 * before anybody could ask.
 */
export function lowerPriority(): void {
  const low = constants.priority.PRIORITY_BELOW_NORMAL;
  // Whoever started it lower may not raise it.
  if (getPriority() >= low) return;
  setPriority(low);
  if (process.platform !== "linux") return;
  for (const thread of readdirSync(THREADS)) {
    try {
      setPriority(Number(thread), low);
    } catch {
      // It ended meanwhile.
    }
  }
}
