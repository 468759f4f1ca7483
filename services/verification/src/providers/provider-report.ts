import { type Environment, environments } from "@vvs/tenant";
import type { Check } from "../checks.ts";
import type { ObservedProvider } from "../metrics.ts";
import type { CircuitBreakers } from "./circuit-breakers.ts";
import type { ProviderCondition, ProviderHealth } from "./provider-health.ts";
import { listProviders, type ProviderRegistry } from "./registry.ts";

/** A provider, what it answers, and how it is. */
export interface ReportedProvider extends ProviderHealth {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** How providers are, for people and machines. */
export interface ProviderReport {
  /** Those of an environment, in the order they are asked. */
  list(environment: Environment): Promise<ReportedProvider[]>;
  /** All, as gauges show them. */
  observe(): Promise<ObservedProvider[]>;
}

const STATES: Readonly<Record<ProviderCondition, number>> = { available: 0, degraded: 1, unavailable: 2 };

export function createProviderReport(options: {
  providers: ProviderRegistry;
  breakers: Readonly<Record<Environment, Pick<CircuitBreakers, "health">>>;
  now: () => Date;
}): ProviderReport {
  const { providers, breakers, now } = options;

  async function list(environment: Environment): Promise<ReportedProvider[]> {
    const listed = listProviders(providers, environment);
    const health = await breakers[environment].health(listed.map(({ name }) => name));
    return listed.map((provider) => ({ ...provider, ...health.get(provider.name)! }));
  }

  return {
    list,
    async observe() {
      const at = now().getTime();
      const perEnvironment = environments.map(async (environment) =>
        (await list(environment)).map(({ name, condition, quotaRemaining, lastSuccessAt }) => ({
          environment,
          provider: name,
          state: STATES[condition],
          quotaRemaining,
          lastSuccessAgeSeconds: lastSuccessAt && Math.max(0, at - lastSuccessAt.getTime()) / 1_000,
        })),
      );
      return (await Promise.all(perEnvironment)).flat();
    },
  };
}
