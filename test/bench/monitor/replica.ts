// A replica of the monitor service's scheduler, started as a separate process with MONGODB_URI and PREFIX. It prints its
// address. A GET of / starts it; /counts answers with what it has claimed so far. Its outbox relay sends to nowhere.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runOutboxRelay } from "@vvs/outbox";
import { runScheduler } from "../../../services/monitor/src/runs/scheduler.ts";
import type { ReplicaCounts } from "./fair.ts";
import { openLiveDomain } from "./live-domain.ts";

/** Default of SCHEDULE_POLL_MS. */
const POLL_MS = 250;

const domain = await openLiveDomain({ mongodbUri: process.env.MONGODB_URI!, prefix: process.env.PREFIX! });
const { db, logger, stopping: signal } = domain;
const producer = { send: async () => undefined };
const relay = runOutboxRelay({ db, producer, logger });
const counts: ReplicaCounts = { claimed: 0, lost: 0 };

const scheduler = {
  async claimDue() {
    const round = await domain.scheduler.claimDue();
    counts.claimed += round.claimed;
    counts.lost += round.lost;
    return round;
  },
};

const server = createServer((incoming, response) => {
  if (incoming.url === "/") void runScheduler(scheduler, { pollMs: POLL_MS, onClaimed: relay.nudge, signal, logger });
  response.end(JSON.stringify(counts));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
