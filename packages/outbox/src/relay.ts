import type { Producer } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { Db } from "mongodb";
import { type LeasedWork, runLeasedWork } from "./leased-work.ts";
import { createLeases } from "./leases.ts";
import type { OutboxRecord } from "./outbox.ts";
import { shardOf } from "./rows.ts";
import { createSweep } from "./sweep.ts";
import { createOutboxMetrics } from "./telemetry.ts";

const POLL_MS = 250;

export interface RelayOptions {
  readonly db: Db;
  /** Must keep the order, and confirm a send only when all in-sync replicas have it. */
  readonly producer: Pick<Producer, "send">;
  /** Unique name of this relay, also among relays of the same service; see createLeases. */
  readonly owner?: string;
  readonly logger: Logger;
  /**
   * Interval in which new rows are looked for without a nudge, such as those of another replica. 250 ms where absent.
   */
  readonly pollMs?: number;
  /** Time for which the shards of a relay that died stay unsent. 15 s where absent. */
  readonly leaseMs?: number;
}

export interface OutboxRelay extends LeasedWork {
  /** Publishes a committed record soon; one that names its row, and whose shard this relay holds, without reading it. */
  publish(record: OutboxRecord): void;
  /** Returns whether this process holds the shard of a key, so that one process at a time does other work of this database. */
  holds(key: string): boolean;
}

/**
 * Publishes the rows of one database's outbox until stopped, and tries again while Kafka or MongoDB is unavailable. It
 * sends the rows of the shards it holds in order, and deletes them when they are confirmed. After a crash in between,
 * they are sent again.
 */
export function runOutboxRelay(options: RelayOptions): OutboxRelay {
  const { pollMs = POLL_MS } = options;
  const metrics = createOutboxMetrics(options.db);
  const leases = createLeases({ ...options, name: "outbox" });
  const sweep = createSweep({ ...options, leases, pollMs, onRelayed: metrics.relayed });
  const work = runLeasedWork({ ...options, leases, pollMs, work: sweep.run });
  return {
    nudge() {
      sweep.read();
      work.nudge();
    },
    publish(record) {
      sweep.add(record);
      work.nudge();
    },
    holds: (key) => leases.held().includes(shardOf(key)),
    async stop() {
      metrics.close();
      await work.stop();
    },
  };
}
