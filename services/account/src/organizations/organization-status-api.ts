import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { type ServicePart, servicePart } from "@vvs/rpc";
import type { AccountDomain } from "../domain.ts";
import { organizationSettings } from "./settings.ts";

export function createOrganizationStatusPart({ domain }: { domain: AccountDomain }): ServicePart {
  return servicePart({
    service: OrganizationStatusService,
    callers: { getOrganizationSettings: ["verification"] },
    handlers: {
      async getOrganizationSettings({ organizationId }) {
        return organizationSettings(await domain.organizations.get(organizationId));
      },
    },
  });
}
