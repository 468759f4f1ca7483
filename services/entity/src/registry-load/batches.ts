import { inBatches } from "@vvs/batching";

/**
 * Applies items in batches, at most `atOnce` of them at the same time, while the next ones are read. Nothing is applied any
 * more once it has ended, also by an error.
 */
export async function applyInBatches<T>(
  items: AsyncIterable<T>,
  { size, atOnce }: { size: number; atOnce: number },
  apply: (batch: T[]) => Promise<void>,
): Promise<void> {
  const applying: Promise<void>[] = [];
  try {
    for await (const batch of inBatches(items, size)) {
      if (applying.length === atOnce) await applying.shift();
      const applied = apply(batch);
      applied.catch(() => undefined); // it is awaited later
      applying.push(applied);
    }
    await Promise.all(applying);
  } finally {
    // Nothing may be written once the lock is released.
    await Promise.allSettled(applying);
  }
}
