import { setTimeout as wait } from "node:timers/promises";
import type { Producer } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { Db } from "mongodb";
import { createLeases } from "./leases.ts";
import { createSweep } from "./sweep.ts";
import { createOutboxMetrics } from "./telemetry.ts";

const LEASE_MS = 15_000;
const POLL_MS = 250;
/** Between two looks, so that a busy service's records are sent many at a time and not one by one. */
const GATHER_MS = 25;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 10_000;
/** What is being sent at stop has this long. */
const FAREWELL_MS = 10_000;

export interface RelayOptions {
  readonly db: Db;
  /** Confirms a send only when all in-sync replicas have it, and keeps the order. */
  readonly producer: Pick<Producer, "send">;
  /** Unlike any other relay's, also those of the same service. */
  readonly owner: string;
  readonly logger: Logger;
  /** How often to look for rows that nobody nudged about, such as those of another replica. */
  readonly pollMs?: number;
  /** How long the shards of a relay that died stay unsent. */
  readonly leaseMs?: number;
}

export interface OutboxRelay {
  /** There is something new to send: call it after a commit, to spare its record the wait for the next look. */
  nudge(): void;
  /** Lets what is being sent finish, and leaves the shards to others at once. */
  stop(): Promise<void>;
}

/**
 * Publishes the rows of one database's outbox until stopped, whatever happens to Kafka and MongoDB: sends those of the
 * shards it holds, in order, and deletes them when they are confirmed. Dying in between, they are sent again.
 */
export function runOutboxRelay(options: RelayOptions): OutboxRelay {
  const { db, owner, pollMs = POLL_MS, leaseMs = LEASE_MS } = options;
  const logger = options.logger.child({ database: db.databaseName });
  const stopping = new AbortController();
  const metrics = createOutboxMetrics(db);
  const leases = createLeases({ db, owner, leaseMs, settled: () => sweep.settled() });
  const sweep = createSweep({ ...options, ...leases, stopping: stopping.signal, onRelayed: metrics.relayed });
  let nudged = false;
  let wake = () => {};

  function nudge(): void {
    nudged = true;
    wake();
  }

  async function untilNudged(ms: number): Promise<void> {
    const woken = Promise.withResolvers<void>();
    wake = woken.resolve;
    const timer = setTimeout(woken.resolve, ms);
    if (!nudged) await woken.promise;
    clearTimeout(timer);
  }

  async function publish(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      nudged = false;
      try {
        if (leases.held().length > 0) await sweep.run();
        if (failures > 0) logger.info("the outbox is published again");
        failures = 0;
        await pause(Math.min(GATHER_MS, pollMs), stopping.signal);
        await untilNudged(pollMs);
      } catch (err) {
        failures++;
        if (failures === 1) logger.error({ err }, "the outbox can't be published; trying until it can");
        await pause(retryMs(failures), stopping.signal);
      }
    }
  }

  async function holdShards(): Promise<void> {
    for (let failing = false; !stopping.signal.aborted; ) {
      const before = leases.held().length;
      try {
        const held = await leases.renew();
        if (held.length > before) nudge();
        failing = false;
      } catch (err) {
        if (!failing) logger.warn({ err }, "the leases of outbox shards can't be renewed; trying until they can");
        failing = true;
      }
      await pause(leaseMs / 3, stopping.signal);
    }
  }

  const work = Promise.all([publish(), holdShards()]);

  return {
    nudge,
    async stop() {
      stopping.abort();
      nudge();
      metrics.close();
      await Promise.race([work, wait(FAREWELL_MS, undefined, { ref: false })]);
      await leases.release().catch((err: unknown) => logger.warn({ err }, "the leases of outbox shards run out alone"));
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

function retryMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10)) * (0.5 + Math.random() / 2);
}
