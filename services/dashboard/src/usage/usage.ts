import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { UsageInterval } from "@vvs/proto/account/v1/usage";
import { HealthInterval } from "@vvs/proto/verification/v1/provider_health";
import { toProtoEnvironment } from "@vvs/tenant";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { usagePage } from "./usage-page.ts";
import { rangesAt, type UsageRange } from "./usage-range.ts";

/** Creates the handler of the usage page: the organization's API requests, and how often providers answered. */
export function createUsageHandler(context: PageContext): PageHandler {
  const { verification, readPanel, layout, now } = context;

  const providersOf = (visit: Visit, range: UsageRange) =>
    readPanel(visit, "provider health", async (call) => {
      const environment = toProtoEnvironment(visit.view.environment);
      const interval = range.interval === "day" ? HealthInterval.DAY : HealthInterval.HOUR;
      const request = { environment, from: timestampFromDate(range.from), to: timestampFromDate(range.to), interval };
      return (await verification.getProviderHealth(request, call)).providers;
    });

  /** Reads the organization's calls at providers today; undefined while unavailable. Sandbox providers have no budgets. */
  const providerUsageOf = async (visit: Visit) => {
    if (visit.view.environment === "sandbox") return [];
    const { caller } = visit;
    const answer = await readPanel(visit, "provider usage", (call) => verification.getProviderUsage({ caller }, call));
    return answer?.providers;
  };

  return async (request, response, visit) => {
    const { caller } = visit;
    const ranges = rangesAt(now());
    const range = ranges.find(({ id }) => id === request.query.range) ?? ranges[2]!;
    const [organization, { keys }, providers, providerUsage] = await Promise.all([
      context.organization.getOrganization({ caller }),
      context.apiKeys.listApiKeys({ caller }),
      providersOf(visit, range),
      providerUsageOf(visit),
    ]);
    const keyId = keys.find(({ id }) => id === request.query.key)?.id ?? "";
    const { counts } = await context.usage.getUsage({
      caller,
      from: timestampFromDate(range.from),
      to: timestampFromDate(range.to),
      interval: range.interval === "day" ? UsageInterval.DAY : UsageInterval.HOUR,
      apiKeyId: keyId,
    });
    const read = { organization, keys, counts, providers, providerUsage };
    const content = usagePage({ view: visit.view, ...read, range, ranges, keyId });
    layout.sendPage(response, { visit, section: "usage", title: "Usage", content });
  };
}
