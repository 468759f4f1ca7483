import type { Check } from "@vvs/checks";
import type { Environment } from "@vvs/tenant";
import type { Provider } from "../providers/provider.ts";
import type { ProvidersByEnvironment } from "../providers/providers.ts";
import type { CircuitBreakers } from "./circuit-breakers.ts";
import type { ProviderHealth } from "./provider-state.ts";

/** A provider, the checks it answers, and its health. */
export interface ReportedProvider extends ProviderHealth {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** A provider as it is shown to users. */
export interface ShownProvider extends ReportedProvider {
  /** Its data is too old for any pass now; it is then unavailable. */
  readonly isOutdated: boolean;
}

/** Maximum duration of reading whether a provider's data is too old. */
const OUTDATED_TIMEOUT_MS = 1_000;

/** Returns an environment's providers with their health, in the order they are asked. */
export type ReportProviders = (environment: Environment) => Promise<ReportedProvider[]>;

export function createReportProviders(
  providers: ProvidersByEnvironment,
  breakers: Readonly<Record<Environment, Pick<CircuitBreakers, "health">>>,
): ReportProviders {
  return (environment) => {
    const checksByName = Map.groupBy(providers[environment], ({ name }) => name);
    return Promise.all(
      [...checksByName].map(async ([name, each]) => ({
        name,
        checks: each.map(({ check }) => check),
        ...(await breakers[environment].health(name)),
      })),
    );
  };
}

/**
 * Creates a report that also shows providers as unavailable whose data is too old. Gauges leave that out: the age of files
 * has alerts of its own. Where it can't be read, health alone counts.
 */
export function createShowProviders(providers: ProvidersByEnvironment, report: ReportProviders) {
  const isOutdated = async (provider: Provider): Promise<boolean> => {
    const signal = AbortSignal.timeout(OUTDATED_TIMEOUT_MS);
    return (await provider.isOutdated?.({ signal }).catch(() => false)) ?? false;
  };
  return async (environment: Environment): Promise<ShownProvider[]> => {
    const [reported, outdated] = await Promise.all([
      report(environment),
      Promise.all(providers[environment].map(async (each) => ((await isOutdated(each)) ? [each.name] : []))),
    ]);
    const names = new Set(outdated.flat());
    return reported.map((each) =>
      names.has(each.name)
        ? { ...each, condition: "unavailable" as const, isOutdated: true }
        : { ...each, isOutdated: false },
    );
  };
}
