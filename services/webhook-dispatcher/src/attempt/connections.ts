import { isIP } from "node:net";
import {
  AddressRefusedError,
  createGuardedAgent,
  createNames,
  createSystemLookup,
  type GuardedAgentOptions,
  isPrivateHost,
} from "@vvs/egress";
import type { Dispatcher } from "undici";

/** Where an organization sends something. */
export interface Destination {
  readonly organizationId: string;
  /** From a URL. */
  readonly hostname: string;
  /** Exact hosts that the operator lets this organization reach at private addresses. */
  readonly privateHosts: readonly string[];
}

export type Connections = ReturnType<typeof createConnections>;

/**
 * The connections to subscribers. Exceptions of organizations have connections of their own, so that no other organization
 * ever uses one. They go past the proxy, which must refuse private addresses, and names are looked up by the system.
 */
export function createConnections(
  options: Omit<GuardedAgentOptions, "resolveAll"> & { nameServers?: readonly string[] },
) {
  const names = createNames(options);
  const lookUp = createSystemLookup();
  // Where private addresses are allowed, names such as localhost are too, which only the system knows.
  const resolvesItself = options.allowPrivateTargets || options.proxy !== undefined;
  const resolveAll = resolvesItself ? lookUp : (hostname: string) => names.resolve("", hostname);
  const ordinary = createGuardedAgent({ ...options, resolveAll });
  const exceptional = createGuardedAgent({
    ...options,
    allowPrivateTargets: true,
    proxy: undefined,
    resolveAll: lookUp,
  });

  return {
    /**
     * Returns what connects to a destination, once its name is resolved: in the share of its organization, so that a name
     * whose servers never answer keeps nobody else waiting. Errors: AddressRefusedError, those of node:dns.
     */
    async to({ organizationId, hostname, privateHosts }: Destination): Promise<Dispatcher> {
      if (privateHosts.includes(hostname)) return exceptional;
      const isName = isIP(hostname) === 0 && !hostname.startsWith("[");
      // The addresses are kept until the connection asks for them, and checked there.
      if (isName && !resolvesItself) {
        // No public server knows it.
        if (isPrivateHost(hostname)) throw new AddressRefusedError();
        await names.resolve(organizationId, hostname);
      }
      return ordinary;
    },
    async destroy(): Promise<void> {
      await Promise.all([ordinary.destroy(), exceptional.destroy()]);
    },
  };
}
