import { ServiceError } from "@vvs/errors";
import type { Tenant } from "@vvs/tenant";
import type { ReadOrganizationSettings } from "../organization-settings/organization-settings.ts";

/** What an organization may ask about TINs in the live environment. */
export interface TinTerms {
  /** The operator approved the organization. */
  readonly isEnabled: boolean;
  /** Maximum number of questions without an answer before that fail in a UTC day, from the organization's plan. */
  readonly failuresPerDay: number;
}

/** Reads the terms of a tenant. Errors: service_unavailable while they are not known: then nothing may be asked. */
export type ReadTinTerms = (tenant: Tenant) => Promise<TinTerms>;

export function createReadTinTerms(settings: ReadOrganizationSettings): ReadTinTerms {
  return async ({ organizationId }) => {
    const known = await settings.get(organizationId);
    if (!known) throw new ServiceError("service_unavailable", { retryAfterSeconds: 1 });
    return { isEnabled: known.liveTinMatch, failuresPerDay: known.tinFailuresPerDay };
  };
}
