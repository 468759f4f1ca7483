import { withoutDeadline } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";
import type { Logger } from "@vvs/logging";
import type { GetOrganizationSettingsResponse } from "@vvs/proto/account/v1/organization_status";

/** How long settings are kept, in milliseconds: a change takes effect within it. */
const KEPT_MS = 10_000;
/** How long after a failure account is asked again for the same organization, in milliseconds. */
const RETRY_MS = 1_000;
/** Maximum number of organizations that are kept; beyond it, all are forgotten. */
const MAX_KEPT = 10_000;

/** What the plan and the operator set for an organization. */
export interface OrganizationSettings {
  /** By provider. A provider that is not listed has no budget. */
  readonly providerBudgets: ReadonlyMap<string, ProviderBudget>;
  /** The operator approved live tin_match. */
  readonly liveTinMatch: boolean;
  /** Maximum number of live tin_match questions that fail in a UTC day. */
  readonly tinFailuresPerDay: number;
}

export interface ReadOrganizationSettings {
  /**
   * Returns an organization's settings, at most 10 s old. While account does not answer, they are those that were read last;
   * undefined where none were read since the start, and where account knows no such organization.
   */
  get(organizationId: string): Promise<OrganizationSettings | undefined>;
}

interface Kept {
  readonly settings: OrganizationSettings | undefined;
  /** Until when they are used without asking, by `performance.now()`. */
  readonly until: number;
}

/** Reads settings of organizations from account, for API calls and monitors' runs alike. */
export function createOrganizationSettings(options: {
  /** Asks account. Errors: not_found; any other means that account does not answer. */
  ask: (organizationId: string) => Promise<GetOrganizationSettingsResponse>;
  logger: Logger;
  keptMs?: number;
  retryMs?: number;
}): ReadOrganizationSettings {
  const { ask, logger, keptMs = KEPT_MS, retryMs = RETRY_MS } = options;
  const kept = new Map<string, Kept>();
  const reading = new Map<string, Promise<OrganizationSettings | undefined>>();
  let isUnavailable = false;

  function keep(organizationId: string, settings: OrganizationSettings | undefined, forMs: number) {
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(organizationId, { settings, until: performance.now() + forMs });
    return settings;
  }

  async function read(organizationId: string): Promise<OrganizationSettings | undefined> {
    const last = kept.get(organizationId)?.settings;
    try {
      const settings = settingsOf(await ask(organizationId));
      if (isUnavailable) logger.info("settings of organizations are available again");
      isUnavailable = false;
      return keep(organizationId, settings, keptMs);
    } catch (err) {
      if (err instanceof ServiceError && err.code === "not_found") return keep(organizationId, undefined, keptMs);
      if (!isUnavailable) logger.warn({ err }, "settings of organizations are unavailable; the last known ones apply");
      isUnavailable = true;
      return keep(organizationId, last, retryMs);
    }
  }

  return {
    async get(organizationId) {
      const known = kept.get(organizationId);
      if (known && performance.now() < known.until) return known.settings;
      return outside(() => {
        const inFlight = reading.get(organizationId);
        if (inFlight) return inFlight;
        // Not limited by the first caller, which may give up: the answer is for all callers that wait.
        const started = withoutDeadline(() => read(organizationId)).finally(() => reading.delete(organizationId));
        reading.set(organizationId, started);
        return started;
      });
    },
  };
}

function settingsOf(read: GetOrganizationSettingsResponse): OrganizationSettings {
  const { providerBudgets, liveTinMatch, tinFailuresPerDay } = read;
  const byProvider = new Map(providerBudgets.map((budget) => [budget.provider, budget]));
  return { providerBudgets: byProvider, liveTinMatch, tinFailuresPerDay };
}

/** Maximum calls that one organization may cause at one provider. */
export interface ProviderBudget {
  /** Direct calls per minute. */
  readonly perMinute: number;
  /** Direct calls and monitors' runs per UTC day. */
  readonly perDay: number;
}
