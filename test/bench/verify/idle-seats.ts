/** How long seats of the queues of processes were free while calls waited, up to a moment. */
export interface IdleSeats {
  readonly atMs: number;
  /** Seconds by process. */
  readonly idle: readonly number[];
}

/** Reads the metrics of processes. Errors: a process that reports no queue. */
export async function idleSeatsAt(adminPorts: readonly number[]): Promise<IdleSeats> {
  const idle = adminPorts.map(async (port) => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const value = /^call_seats_idle_duration\S* ([\d.e+-]+)/m.exec(text)?.[1];
    if (value === undefined) throw new Error(`the process at ${port} does not report idle seats`);
    return Number(value);
  });
  return { atMs: performance.now(), idle: await Promise.all(idle) };
}

/** Returns the part of a period in which a process had a free seat and a call that could have begun, of the worst process. */
export function idleSeatShare(from: IdleSeats, to: IdleSeats): number {
  const seconds = (to.atMs - from.atMs) / 1_000;
  return Math.max(...to.idle.map((idle, index) => idle - from.idle[index]!)) / seconds;
}
