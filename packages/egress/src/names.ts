import { lookup, Resolver } from "node:dns/promises";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** How long addresses are used again, in milliseconds. */
const KEPT_MS = 5_000;
/** Maximum number of names whose addresses are kept; beyond it, all are forgotten. */
const MAX_KEPT = 10_000;
/** Time limit of a first query, in milliseconds; of a second one it is a little longer. */
const QUERY_MS = 1_500;
const MAX_QUERY_MS = 2_000;
const QUERIES = 2;
/** Maximum number of names of one owner that are looked up at a time. */
const LOOKUPS_PER_OWNER = 32;
/** The same with the system's resolver. It keeps a thread for each, of the four that also read files. */
const SYSTEM_LOOKUPS = 2;

/**
 * Looks names up by DNS, without threads. Each owner has a resolver of its own and a limit of its own: names whose servers
 * never answer delay only other names of the same owner. Reads no hosts file.
 */
export function createNames({ nameServers }: { nameServers?: readonly string[] } = {}) {
  const kept = new Map<string, { addresses: readonly ResolvedAddress[]; at: number }>();
  const shares = new Map<
    string,
    { run: Bounded; resolver: Resolver; lookups: Map<string, Promise<ResolvedAddress[]>> }
  >();

  function shareOf(owner: string) {
    const known = shares.get(owner);
    if (known) return known;
    const resolver = new Resolver({ timeout: QUERY_MS, maxTimeout: MAX_QUERY_MS, tries: QUERIES });
    if (nameServers) resolver.setServers(nameServers);
    const share = { run: bounded(LOOKUPS_PER_OWNER), resolver, lookups: new Map() };
    shares.set(owner, share);
    return share;
  }

  return {
    /** Returns the addresses of a name. Errors: those of node:dns, such as ENOTFOUND and ETIMEOUT, within a few seconds. */
    async resolve(owner: string, hostname: string): Promise<ResolvedAddress[]> {
      const known = kept.get(hostname);
      if (known && performance.now() - known.at < KEPT_MS) return [...known.addresses];
      const { run, resolver, lookups } = shareOf(owner);
      const lookup = lookups.get(hostname) ?? run(() => addressesOf(resolver, hostname));
      lookups.set(hostname, lookup);
      try {
        const addresses = await lookup;
        if (kept.size >= MAX_KEPT) kept.clear();
        kept.set(hostname, { addresses, at: performance.now() });
        return [...addresses];
      } finally {
        if (lookups.get(hostname) === lookup) lookups.delete(hostname);
        if (lookups.size === 0) shares.delete(owner);
      }
    },
  };
}

async function addressesOf(resolver: Resolver, hostname: string): Promise<ResolvedAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [four, six].flatMap((answer, index) =>
    answer.status === "rejected" ? [] : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
  );
  if (found.length === 0 && four.status === "rejected") throw four.reason;
  return found;
}

/** Returns a function that looks names up by the system's resolver, which also knows the hosts file; few at a time. */
export function createSystemLookup(
  ask: (hostname: string) => Promise<ResolvedAddress[]> = (hostname) => lookup(hostname, { all: true }),
): (hostname: string) => Promise<ResolvedAddress[]> {
  const run = bounded(SYSTEM_LOOKUPS);
  return (hostname) => run(() => ask(hostname));
}

type Bounded = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns a function that runs at most `atOnce` pieces of work at a time; the others wait in their order. */
function bounded(atOnce: number): Bounded {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < atOnce) running++;
    else await new Promise<void>((begin) => waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
