import type { Check } from "@vvs/checks";
import type { Environment } from "@vvs/tenant";
import type { ProvidersByEnvironment } from "../providers/providers.ts";
import type { CircuitBreakers } from "./circuit-breakers.ts";
import type { ProviderHealth } from "./provider-state.ts";

/** A provider, the checks it answers, and its health. */
export interface ReportedProvider extends ProviderHealth {
  readonly name: string;
  readonly checks: readonly Check[];
}

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
