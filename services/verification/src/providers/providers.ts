import { type Check, checkNames } from "@vvs/checks";
import type { Environment } from "@vvs/tenant";
import type { Provider } from "./provider.ts";
import type { RegistryReader } from "./sam-gov/registry-reader.ts";
import type { CountSandboxCall } from "./sandbox/sandbox-providers.ts";
import { createSandboxRegistration, createSandboxTinMatch } from "./sandbox/sandbox-providers.ts";

const createSandboxProvider = {
  sam_registration: createSandboxRegistration,
  tin_match: createSandboxTinMatch,
} satisfies Record<Check, unknown>;

/** The providers of each environment, in the order they are asked. */
export type ProvidersByEnvironment = Readonly<Record<Environment, readonly Provider[]>>;

/** Returns the given live providers, and creates the sandbox's: two of each check, asked one after the other. */
export function createProviders(options: {
  live: readonly Provider[];
  entities: RegistryReader;
  countCall: CountSandboxCall;
  now: () => Date;
}): ProvidersByEnvironment {
  return {
    live: options.live,
    sandbox: (["sandbox_primary", "sandbox_secondary"] as const).flatMap((name) =>
      checkNames.map((check) => createSandboxProvider[check]({ name, ...options })),
    ),
  };
}

/** Returns the providers that answer a check. */
export function providersOf(registry: ProvidersByEnvironment, environment: Environment, check: Check): Provider[] {
  return registry[environment].filter((provider) => provider.check === check);
}
