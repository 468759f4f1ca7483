import { UsageService } from "@vvs/proto/account/v1/usage";
import { type Callers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf } from "@vvs/tenant";
import type { AccountDomain } from "../domain.ts";
import { usageCountMessage, usageCountOf, usageRangeOf } from "./usage-messages.ts";

const callers: Callers<typeof UsageService> = {
  reportUsage: ["gateway"],
  getUsage: ["dashboard"],
};

/** UsageService. */
export function createUsagePart({ domain }: { domain: AccountDomain }): ServicePart {
  return servicePart({
    service: UsageService,
    callers,
    handlers: {
      async reportUsage({ reportId, counts }) {
        await domain.usage.report(reportId, counts.map(usageCountOf));
        return {};
      },

      async getUsage({ caller, from, to, interval, apiKeyId }) {
        const { tenant } = callerOf(caller);
        const counts = await domain.usage.get(tenant, usageRangeOf({ from, to, interval, apiKeyId }));
        return { counts: counts.map((count) => usageCountMessage({ tenant, ...count })) };
      },
    },
  });
}
