import { inBatches } from "@vvs/batching";
import { ServiceError } from "@vvs/errors";
import { addDays, registryDay, startOfRegistryDay } from "@vvs/registration";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import { type ReportTo, reportTo } from "../events/notification-reporter.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import { collections } from "../store.ts";

/** Days before the end of a registration on which members are reminded. */
const REMINDED_DAYS = [7, 30, 60];
/** How many days a reminder may be late, as after an outage. */
const LATE_DAYS = 1;
const POLL_MS = 10 * 60_000;
/** Maximum number of monitors that are read together, and of reminders that are reported together: account takes no more. */
const BATCH = 100;

type Expiring = Pick<MonitorDocument, "_id" | "organization_id" | "entity_id" | "external_id" | "expiry_run_at">;

export interface ReminderOptions extends ReportTo {
  /** Of the live environment. */
  readonly db: Db;
  /** Returns the name of a vendor; empty where it has none. */
  readonly nameOf: (tenant: Tenant, entityId: string) => Promise<string>;
  readonly now: () => Date;
}

/**
 * Reports to account which registrations of monitored vendors end in 60, 30 or 7 days, by the days of Washington. Each has an id,
 * so account takes it once, whichever replicas report it. What this process has reported today it does not report again.
 */
export function createRemindOfExpiry({ db, nameOf, now, ...to }: ReminderOptions) {
  const { monitors } = collections(db);
  let reported = { day: "", ids: new Set<string>() };

  async function report(days: number, found: readonly Expiring[]): Promise<void> {
    for (const [organizationId, own] of Map.groupBy(found, ({ organization_id }) => organization_id)) {
      const messages = new Map<string, Awaited<ReturnType<typeof messageOf>>>();
      for (const monitor of own) {
        const expirationDate = addDays(registryDay(monitor.expiry_run_at!), -1);
        const id = `${monitor.entity_id}:expires:${expirationDate}:${days}`;
        if (reported.ids.has(`${organizationId}:${id}`) || messages.has(id)) continue;
        messages.set(id, await messageOf(id, monitor, expirationDate));
      }
      if (messages.size === 0) continue;
      await reportTo(to, organizationId, [...messages.values()]);
      for (const id of messages.keys()) reported.ids.add(`${organizationId}:${id}`);
    }
  }

  /** Returns no name where one vendor's can't be read: the reminders of others go on. */
  function unknown(err: unknown): string {
    if (err instanceof ServiceError && err.code === "service_unavailable") throw err;
    to.logger.error({ err }, "the name of a vendor whose registration ends soon can't be read");
    return "";
  }

  async function messageOf(id: string, { organization_id, entity_id, external_id }: Expiring, expirationDate: string) {
    const entityName = await nameOf({ organizationId: organization_id, environment: "live" }, entity_id).catch(unknown);
    const value = { entityId: entity_id, entityName, externalId: external_id, expirationDate };
    return { id, about: { case: "registrationExpires" as const, value } };
  }

  /** Reports what is to be reported today. Errors: those of the calls and of the database; then it is to be called again. */
  return async (): Promise<void> => {
    const today = registryDay(now());
    if (reported.day !== today) reported = { day: today, ids: new Set() };
    for (const days of REMINDED_DAYS) {
      // The extra run after an expiration is on the day after it.
      const from = startOfRegistryDay(addDays(today, days + 1 - LATE_DAYS));
      const to = startOfRegistryDay(addDays(today, days + 2));
      const found = monitors.find({ status: "active", expiry_run_at: { $gte: from, $lt: to } });
      for await (const batch of inBatches(found, BATCH)) await report(days, batch);
    }
  };
}

/** Reports reminders until stopped. */
export function runExpiryReminders(options: ReminderOptions & { stopping: AbortSignal }): SupervisedLoop {
  const { stopping, logger } = options;
  const remind = createRemindOfExpiry(options);
  return superviseLoop({
    async round() {
      await remind();
      return POLL_MS;
    },
    failure: "registrations that end soon can't be reported; retrying until they can",
    recovery: "registrations that end soon are reported again",
    backoff: { firstMs: 1_000, longestMs: 60_000 },
    stopping,
    logger,
  });
}
