import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AccountService, UsageInterval } from "@vvs/proto/account/v1/account";
import { HealthInterval } from "@vvs/proto/verification/v1/provider_health";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { toProtoCaller, toProtoEnvironment } from "@vvs/tenant";
import type { PageHandler, Visit } from "./http/session.ts";
import type { Layout } from "./pages/layout.ts";
import { usagePage } from "./pages/usage.ts";
import type { ReadPanel } from "./panels.ts";

/** A time up to now that usage is shown of. */
export interface UsageRange {
  readonly id: string;
  readonly name: string;
  readonly interval: "hour" | "day";
  readonly stepMs: number;
  readonly from: Date;
  /** Exclusive: the end of the present hour or day, UTC. */
  readonly to: Date;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

const choices = [
  { id: "day", name: "24 hours", interval: "hour", stepMs: HOUR_MS, steps: 24 },
  { id: "week", name: "7 days", interval: "hour", stepMs: HOUR_MS, steps: 7 * 24 },
  { id: "month", name: "30 days", interval: "day", stepMs: DAY_MS, steps: 30 },
  { id: "quarter", name: "92 days", interval: "day", stepMs: DAY_MS, steps: 92 },
] as const;

/** The ranges to choose from, as of now: whole hours or days, the present one included. */
export function rangesAt(now: Date): UsageRange[] {
  return choices.map(({ steps, ...choice }) => {
    const to = (Math.floor(now.getTime() / choice.stepMs) + 1) * choice.stepMs;
    return { ...choice, from: new Date(to - steps * choice.stepMs), to: new Date(to) };
  });
}

/** Shows what the organization used, and how the providers did meanwhile. */
export function createUsageHandler(options: {
  account: Pick<Client<typeof AccountService>, "getUsage" | "getOrganization" | "listApiKeys">;
  verification: Pick<Client<typeof VerificationService>, "getProviderHealth">;
  readPanel: ReadPanel;
  layout: Layout;
  now: () => Date;
}): PageHandler {
  const { account, verification, readPanel, layout, now } = options;

  const providersOf = (visit: Visit, range: UsageRange) =>
    readPanel(visit, "provider health", async (call) => {
      const environment = toProtoEnvironment(visit.view.environment);
      const interval = range.interval === "day" ? HealthInterval.DAY : HealthInterval.HOUR;
      const asked = { environment, from: timestampFromDate(range.from), to: timestampFromDate(range.to), interval };
      return (await verification.getProviderHealth(asked, call)).providers;
    });

  return async (request, response, visit) => {
    const caller = toProtoCaller(visit.caller);
    const ranges = rangesAt(now());
    const range = ranges.find(({ id }) => id === request.query.range) ?? ranges[2]!;
    const [organization, { keys }, providers] = await Promise.all([
      account.getOrganization({ caller }),
      account.listApiKeys({ caller }),
      providersOf(visit, range),
    ]);
    const keyId = keys.find(({ id }) => id === request.query.key)?.id ?? "";
    const { counts } = await account.getUsage({
      caller,
      from: timestampFromDate(range.from),
      to: timestampFromDate(range.to),
      interval: range.interval === "day" ? UsageInterval.DAY : UsageInterval.HOUR,
      apiKeyId: keyId,
    });
    const content = usagePage({ view: visit.view, organization, keys, counts, range, ranges, keyId, providers });
    layout.sendPage(response, { visit, section: "usage", title: "Usage", content });
  };
}
