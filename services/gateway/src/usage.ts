import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Logger } from "@vvs/logging";
import type { UsageCountSchema, UsageService } from "@vvs/proto/account/v1/usage";
import type { Client } from "@vvs/rpc";
import { DURATION_CLASSES, durationClass } from "@vvs/telemetry/durations";
import { toProtoTenant } from "@vvs/tenant";
import type { ApiKey } from "./http/api-key.ts";
import { startReports } from "./reports.ts";

const REPORT_EVERY_MS = 10_000;
/** Maximum number of counts in a report: account stores them by one transaction. */
const REPORT_SIZE = 2_000;
const HOUR_MS = 60 * 60 * 1000;

/** Counts a request for its API key. */
type CountUse = (key: CountedKey, answered: { readonly status: number; readonly durationMs: number }) => void;

type CountedKey = Pick<ApiKey, "id" | "tenant">;

interface Count {
  readonly key: CountedKey;
  readonly hour: Date;
  readonly status: number;
  requests: number;
  readonly durations: number[];
  lastAt: Date;
}

/**
 * Counts requests and reports them to account every ten seconds. A report with an unknown outcome is sent again unchanged,
 * and later requests wait for the next report. So each request counts once, except for those of a gateway that is killed and
 * of a report that account refuses.
 */
export function startUsageReports(options: {
  account: Pick<Client<typeof UsageService>, "reportUsage">;
  logger: Logger;
  now: () => Date;
}): { readonly count: CountUse; close(): Promise<void> } {
  const { account, logger, now } = options;
  const counts = new Map<string, Count>();

  function take(): Count[] | undefined {
    const taken = [...counts].slice(0, REPORT_SIZE);
    for (const [name] of taken) counts.delete(name);
    return taken.length > 0 ? taken.map(([, count]) => count) : undefined;
  }

  const { close } = startReports({
    take,
    send: (reportId, taken) => account.reportUsage({ reportId, counts: taken.map(messageOf) }),
    isFull: () => counts.size >= REPORT_SIZE,
    everyMs: REPORT_EVERY_MS,
    failure: "reporting usage fails; retrying",
    recovery: "reporting usage succeeds again",
    refused: "requests are missing in the usage, because account refuses their counts",
    lost: "the last usage could not be reported",
    logger,
  });
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
    /** Reports the remaining requests. */
    close,
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
