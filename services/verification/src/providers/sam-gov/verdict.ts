import { ProviderError } from "../provider.ts";
import { excludedVerdict, registrationVerdict, type Verdict } from "../registration-verdict.ts";
import { type ExclusionRow, isInForce } from "./exclusion.ts";
import type { Registration } from "./registration.ts";

/** SAM.gov shows the vendor in no way. */
export interface NotFound {
  readonly outcome: "fail";
  readonly reason: "not_found";
  readonly registrationStatus: undefined;
}

/**
 * The verdict of SAM.gov's APIs today (YYYY-MM-DD), in this order: an exclusion that is flagged or in force, an id
 * without a registration, an active registration that has not ended, one that has, any other; and not_found where there
 * is neither registration nor id. Errors: the error of the exclusions call, where the verdict would rest on there being
 * none.
 */
export function samGovVerdict(
  registration: Registration | undefined,
  exclusions: readonly ExclusionRow[] | ProviderError,
  today: string,
): Verdict | NotFound {
  if (registration?.isExcluded) return excludedVerdict;
  if (exclusions instanceof ProviderError) throw exclusions;
  if (exclusions.some((exclusion) => isInForce(exclusion, today))) return excludedVerdict;
  if (!registration) return { outcome: "fail", reason: "not_found", registrationStatus: undefined };
  const row = {
    extractCode: registration.isActive ? "A" : "",
    excluded: false,
    expirationDate: registration.expirationDate,
    idOnly: !registration.isRegistered,
  };
  return registrationVerdict(row, [], today);
}
