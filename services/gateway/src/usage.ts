import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Logger } from "@vvs/logging";
import type { AccountService, UsageCountSchema } from "@vvs/proto/account/v1/account";
import type { Client } from "@vvs/rpc";
import { DURATION_CLASSES, durationClass } from "@vvs/telemetry/durations";
import { toProtoTenant } from "@vvs/tenant";
import type { ApiKey } from "./auth/api-key.ts";
import type { CountUse } from "./http/exchange.ts";

const REPORT_EVERY_MS = 10_000;
const HOUR_MS = 60 * 60 * 1000;

interface Count {
  readonly key: Pick<ApiKey, "id" | "tenant">;
  readonly hour: Date;
  readonly status: number;
  requests: number;
  readonly durations: number[];
  lastAt: Date;
}

interface Report {
  readonly id: string;
  readonly counts: readonly Count[];
}

export interface UsageReports {
  readonly count: CountUse;
  /** Reports what is left. */
  close(): Promise<void>;
}

/**
 * Counts requests and tells account every ten seconds. A report whose fate is unknown is sent again as it was, and what
 * comes meanwhile waits for the next one: each request counts once, but for those of a gateway that is killed.
 */
export function startUsageReports(options: {
  account: Pick<Client<typeof AccountService>, "reportUsage">;
  logger: Logger;
  now: () => Date;
  reportEveryMs?: number;
}): UsageReports {
  const { account, logger, now, reportEveryMs = REPORT_EVERY_MS } = options;
  let counts = new Map<string, Count>();
  let unsent: Report | undefined;
  let troubled = false;

  async function report(): Promise<void> {
    if (!unsent && counts.size > 0) {
      unsent = { id: randomUUID(), counts: [...counts.values()] };
      counts = new Map();
    }
    if (!unsent) return;
    try {
      await account.reportUsage({ reportId: unsent.id, counts: unsent.counts.map(messageOf) });
      unsent = undefined;
      troubled = false;
    } catch (err) {
      if (!troubled) logger.warn({ err }, "usage can't be reported; trying until it can");
      troubled = true;
    }
  }

  let reporting = Promise.resolve();
  const timer = setInterval(() => {
    reporting = reporting.then(report);
  }, reportEveryMs).unref();
  return {
    count(key, { status, durationMs }) {
      const at = now();
      const hour = new Date(at.getTime() - (at.getTime() % HOUR_MS));
      const name = `${key.id} ${hour.getTime()} ${status}`;
      const known = counts.get(name);
      const count = known ?? { key, hour, status, requests: 0, durations: Array(DURATION_CLASSES).fill(0), lastAt: at };
      if (!known) counts.set(name, count);
      count.requests += 1;
      count.durations[durationClass(durationMs)]! += 1;
      count.lastAt = at;
    },
    async close() {
      clearInterval(timer);
      await reporting;
      await report();
      // What was counted while the one before was unsent.
      if (!unsent) await report();
    },
  };
}

function messageOf(count: Count): MessageInitShape<typeof UsageCountSchema> {
  return {
    tenant: toProtoTenant(count.key.tenant),
    apiKeyId: count.key.id,
    hour: timestampFromDate(count.hour),
    status: count.status,
    requests: BigInt(count.requests),
    durations: count.durations.map(BigInt),
    lastAt: timestampFromDate(count.lastAt),
  };
}
