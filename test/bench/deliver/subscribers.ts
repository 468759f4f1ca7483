import { join } from "node:path";
import { startHelper } from "../../support/helper-process.ts";

/** One POST that a subscriber got. */
export interface Arrival {
  /** The event, as its header names it. */
  readonly id: string;
  /** What the body is about: told apart from others whatever the header says. */
  readonly verification: string;
  readonly url: string;
  readonly attempt: number;
  /** Milliseconds since 1970, with fractions, the same clock in all processes. */
  readonly at: number;
}

/** An endless answer that was ended by the other side. */
export interface Cut {
  readonly kind: "drip" | "huge";
  readonly afterMs: number;
  /** Taken from the subscriber, buffers of the system included. */
  readonly bytes: number;
}

/** The played subscribers. */
export interface Subscribers {
  /** An URL at the endpoint of that number. */
  url(endpoint: number, path?: string): string;
  count(): Promise<number>;
  arrivals(from?: number): Promise<Arrival[]>;
  cuts(): Promise<Cut[]>;
  stop(): Promise<void>;
}

export async function startSubscribers(endpoints: number): Promise<Subscribers> {
  const hosts = Array.from({ length: endpoints }, (_, index) => `127.1.${index >> 8}.${index & 255}`);
  const helper = await startHelper({
    name: "subscriber",
    script: join(import.meta.dirname, "subscriber.ts"),
    environment: { HOSTS: hosts.join(",") },
  });
  const [port, control] = helper.line.split(" ");
  const ask = async (path: string) => JSON.parse(await (await fetch(`http://127.0.0.1:${control}${path}`)).text());
  return {
    url: (endpoint, path = "/ok") => `http://${hosts[endpoint % endpoints]}:${port}${path}`,
    count: () => ask("/count"),
    arrivals: (from = 0) => ask(`/arrivals?from=${from}`),
    cuts: () => ask("/cuts"),
    stop: helper.stop,
  };
}

/** The clock that subscribers tell arrivals by. */
export function clockMs(): number {
  return performance.timeOrigin + performance.now();
}
