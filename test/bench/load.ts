import { setTimeout as wait } from "node:timers/promises";

export interface LoadResult {
  readonly perSecond: number;
  /** Latencies of successful calls, sorted. */
  readonly latenciesMs: readonly number[];
  readonly failed: number;
}

/** Keeps `inFlight` calls running for `forMs`. Calls that end later count for neither rate nor latency. */
export async function closedLoop(options: {
  inFlight: number;
  forMs: number;
  call: () => Promise<unknown>;
}): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let failed = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + options.forMs;
  const worker = async () => {
    for (let began = performance.now(); began < endsAt; ) {
      const worked = await options.call().then(
        () => true,
        () => false,
      );
      const now = performance.now();
      if (!worked) failed++;
      else if (now <= endsAt) latenciesMs.push(now - began);
      began = now;
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, worker));
  return { perSecond: latenciesMs.length / (options.forMs / 1_000), latenciesMs: sorted(latenciesMs), failed };
}

/** Starts calls at a steady rate, even if answers are slow, and waits for the last answer. */
export async function openLoop(options: {
  perSecond: number;
  forMs: number;
  call: () => Promise<unknown>;
}): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const running = new Set<Promise<void>>();
  let failed = 0;
  const startedAt = performance.now();
  for (let begun = 0; performance.now() - startedAt < options.forMs; ) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * options.perSecond);
    for (; begun < due; begun++) {
      const began = performance.now();
      const call = options.call().then(
        () => void latenciesMs.push(performance.now() - began),
        () => void failed++,
      );
      running.add(call);
      void call.finally(() => running.delete(call));
    }
    await wait(1);
  }
  await Promise.all(running);
  return { perSecond: latenciesMs.length / (options.forMs / 1_000), latenciesMs: sorted(latenciesMs), failed };
}

/** Returns a percentile of sorted values; NaN if there are none. */
export function percentile(values: readonly number[], percent: number): number {
  return values[Math.max(0, Math.ceil((values.length * percent) / 100) - 1)] ?? Number.NaN;
}

export function sorted(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

export function median(values: readonly number[]): number {
  return percentile(sorted(values), 50);
}
