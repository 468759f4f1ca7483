import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type GetOrganizationSettingsResponseSchema,
  OrganizationStatusService,
} from "@vvs/proto/account/v1/organization_status";
import { type ServicePart, servicePart } from "@vvs/rpc";
import type { KeysDomain } from "../domain.ts";
import { providerBudgets, tinFailuresPerDay } from "../model/plans.ts";
import type { OrganizationDocument } from "../store.ts";

export function createOrganizationStatusPart({ domain }: { domain: KeysDomain }): ServicePart {
  return servicePart({
    service: OrganizationStatusService,
    callers: { getOrganizationSettings: ["verification"], listSuspended: ["monitor", "verification"] },
    handlers: {
      async getOrganizationSettings({ organizationId }) {
        return settingsOf(await domain.organizations.get(organizationId));
      },

      async listSuspended() {
        return { organizationIds: await domain.organizations.listSuspended() };
      },
    },
  });
}

/** Returns what services that also work without a caller must know of an organization. */
function settingsOf(
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
