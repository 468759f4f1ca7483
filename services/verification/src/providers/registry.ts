import type { Environment } from "@vvs/tenant";
import type { Check } from "../checks.ts";
import type { Provider } from "./provider.ts";
import type { RegistryReader } from "./registry-reader.ts";
import { createSandboxRegistration, createSandboxTinMatch, type SandboxTurns } from "./sandbox-providers.ts";

/** The providers of an environment, in the order they are asked. */
export type ProviderRegistry = Readonly<Record<Environment, readonly Provider[]>>;

/** All providers this service has: the live ones it is configured with, and the sandbox's. */
export function createProviderRegistry(options: {
  live: readonly Provider[];
  entities: RegistryReader;
  turns: SandboxTurns;
  now: () => Date;
}): ProviderRegistry {
  return {
    live: options.live,
    sandbox: (["sandbox_primary", "sandbox_secondary"] as const).flatMap((name) => [
      createSandboxRegistration({ name, ...options }),
      createSandboxTinMatch({ name, ...options }),
    ]),
  };
}

/** Those that answer a check. */
export function providersOf(registry: ProviderRegistry, environment: Environment, check: Check): Provider[] {
  return registry[environment].filter((provider) => provider.check === check);
}

/** The names of an environment's providers with the checks each answers, in the order they are asked. */
export function listProviders(
  registry: ProviderRegistry,
  environment: Environment,
): { name: string; checks: Check[] }[] {
  const names = [...new Set(registry[environment].map(({ name }) => name))];
  return names.map((name) => ({
    name,
    checks: registry[environment].filter((provider) => provider.name === name).map(({ check }) => check),
  }));
}
