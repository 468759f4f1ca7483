import type { Check } from "@vvs/checks";
import { type Environment, environments } from "@vvs/tenant";
import type { ObservedProvider } from "../metrics.ts";
import { listProviders, type ProvidersByEnvironment } from "../providers/providers.ts";
import type { CircuitBreakers } from "./circuit-breakers.ts";
import type { ProviderCondition, ProviderHealth } from "./provider-health.ts";

/** A provider, the checks it answers, and its health. */
export interface ReportedProvider extends ProviderHealth {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** Reports the health of providers, for the API and for metrics. */
export interface ProviderReport {
  /** Returns an environment's providers, in the order they are asked. */
  list(environment: Environment): Promise<ReportedProvider[]>;
  /** Returns all providers, as the gauges show them. */
  observe(): Promise<ObservedProvider[]>;
}

const STATES: Readonly<Record<ProviderCondition, number>> = { available: 0, degraded: 1, unavailable: 2 };

export function createProviderReport(options: {
  providers: ProvidersByEnvironment;
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
      const reports = environments.map(async (environment) =>
        (await list(environment)).map(({ name, condition, quotaRemaining, lastSuccessAt }) => ({
          environment,
          provider: name,
          state: STATES[condition],
          quotaRemaining,
          lastSuccessAgeSeconds: lastSuccessAt && Math.max(0, at - lastSuccessAt.getTime()) / 1_000,
        })),
      );
      return (await Promise.all(reports)).flat();
    },
  };
}
