import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { newId } from "@vvs/ids";
import { eventually } from "@vvs/testing";
import { webhookEvent } from "../../support/delivery-stack.ts";
import { round } from "../round.ts";
import { ENDPOINTS, flood, ownerOf } from "./population.ts";
import type { DeliverRow } from "./row.ts";

const ORDINARY = 5_000;
/** Number of endless answers of each kind. */
const ENDLESS = 40;
const SAMPLE_MS = 50;
/** The dispatcher's time limit for an attempt, and the tolerance for late timers. */
const TOTAL_TIMEOUT_MS = 15_000;
const LATE_MS = 1_000;

/** Answers that drip forever and answers of 300 MB: when they are cut off, and how much memory they take. */
export const answers: DeliverRow = {
  name: "answers",
  targets: {
    drip_cut_ms: { at_most: TOTAL_TIMEOUT_MS + LATE_MS },
    // Of 300 MB. The system's buffers on both sides take a part of this.
    huge_taken_mb: { at_most: 16 },
    huge_not_delivered: { at_most: 0 },
    resident_growth_mb: { at_most: 20 },
  },
  async measure({ stack, subscribers, log }) {
    const resident = watchResident(stack.pid());
    try {
      await stack.publish(flood(ORDINARY, subscribers.url));
      await eventually(async () => (await subscribers.count()) >= ORDINARY, { timeoutMs: 120_000 });
      await eventually(async () => (await stack.pending()) === 0);
      const before = resident.peakMb();
      log(`${ENDLESS} answers that drip and ${ENDLESS} of 300 MB ...`);
      await stack.publish([...endless("/drip"), ...endless("/huge")]);
      const cuts = await eventually(
        async () => {
          const all = await subscribers.cuts();
          return all.length >= 2 * ENDLESS && all;
        },
        { timeoutMs: 60_000 },
      );
      const after = resident.peakMb();
      const most = (kind: string, of: "afterMs" | "bytes") =>
        Math.max(...cuts.filter((cut) => cut.kind === kind).map((cut) => cut[of]));
      const huge = await stack.deliveries({ webhook_url: /\/huge$/ });
      return {
        drip_cut_ms: round(most("drip", "afterMs"), 0),
        huge_cut_ms: round(most("huge", "afterMs"), 0),
        huge_taken_mb: round(most("huge", "bytes") / 1_048_576, 1),
        huge_not_delivered: ENDLESS - huge.filter(({ status }) => status === "delivered").length,
        resident_before_mb: round(before, 0),
        resident_growth_mb: round(after - before, 1),
      };
    } finally {
      await resident.stop();
    }

    function endless(path: string) {
      return Array.from({ length: ENDLESS }, (_, index) => {
        const endpoint = index % ENDPOINTS;
        const url = subscribers.url(endpoint, path);
        return webhookEvent({ organizationId: ownerOf(endpoint), monitorId: newId("mon"), url });
      });
    }
  },
};

/** Watches the peak resident memory of a process. */
function watchResident(pid: number): { peakMb(): number; stop(): Promise<void> } {
  let peak = 0;
  let watching = true;
  const watched = (async () => {
    for (; watching; await wait(SAMPLE_MS)) {
      const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1];
      peak = Math.max(peak, Number(kb) / 1_024);
    }
  })();
  return {
    peakMb: () => peak,
    async stop() {
      watching = false;
      await watched;
    },
  };
}
