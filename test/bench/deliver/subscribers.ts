import { join } from "node:path";
import { startHelper } from "../../support/helper-process.ts";

/** One POST that a subscriber received. */
export interface Arrival {
  /** Event id, from the header. */
  readonly id: string;
  /** Verification id, from the body. It identifies the event even if the header is wrong. */
  readonly verification: string;
  readonly url: string;
  readonly attempt: number;
  /** Milliseconds since 1970, with fractions, the same clock in all processes. */
  readonly at: number;
}

/** An endless answer that the dispatcher cut off. */
export interface Cut {
  readonly kind: "drip" | "huge";
  readonly afterMs: number;
  /** Bytes read from the subscriber, including system buffers. */
  readonly bytes: number;
}

/** The simulated subscribers. */
export interface Subscribers {
  /** Returns a URL at the endpoint with this index. */
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

/** Returns the time on the same clock as arrivals. */
export function clockMs(): number {
  return performance.timeOrigin + performance.now();
}
