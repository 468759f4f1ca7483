import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetOrganizationSettingsResponseSchema } from "@vvs/proto/account/v1/organization_status";
import { providerBudgets, tinFailuresPerDay } from "../model/plans.ts";
import type { OrganizationDocument } from "../store.ts";

/** Returns what services that also work without a caller must know of an organization. */
export function organizationSettings(
  organization: OrganizationDocument,
): MessageInitShape<typeof GetOrganizationSettingsResponseSchema> {
  const budgets = Object.entries(providerBudgets(organization));
  return {
    providerBudgets: budgets.map(([provider, { per_minute, per_day }]) => ({
      provider,
      perMinute: per_minute,
      perDay: per_day,
    })),
    liveTinMatch: organization.live_tin_match ?? false,
    tinFailuresPerDay: tinFailuresPerDay(organization),
  };
}
