import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { type ServicePart, servicePart } from "@vvs/rpc";
import type { KeysDomain } from "../domain.ts";
import { organizationSettings } from "../organizations/settings.ts";

export function createOrganizationStatusPart({ domain }: { domain: KeysDomain }): ServicePart {
  return servicePart({
    service: OrganizationStatusService,
    callers: { getOrganizationSettings: ["verification"], listSuspended: ["monitor", "verification"] },
    handlers: {
      async getOrganizationSettings({ organizationId }) {
        return organizationSettings(await domain.organizations.get(organizationId));
      },

      async listSuspended() {
        return { organizationIds: await domain.organizations.listSuspended() };
      },
    },
  });
}
