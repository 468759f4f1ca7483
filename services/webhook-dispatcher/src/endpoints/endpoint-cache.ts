import type { Logger } from "@vvs/logging";
import { mayProbe, newEndpoint, type Observation, observe, probing } from "./circuit.ts";
import type { Endpoint, EndpointIdentity } from "./endpoint.ts";
import { CHANGES_PER_READ, type EndpointStore } from "./endpoint-store.ts";

/** How often changes are exchanged with other replicas through the store, in milliseconds. */
const SYNC_MS = 1_000;
/** A change can become visible this long after its time; each read goes back that far. */
const OVERLAP_MS = 3_000;
/** How far the first read goes back: clocks may differ by this much. */
const FIRST_LOOK_BACK_MS = 60_000;
/** Maximum number of endpoints kept; beyond it, those that answer well are forgotten. */
const MAX_CACHED = 50_000;
/** Those that were not looked at for this long are forgotten, long before the store deletes them, in milliseconds. */
const IDLE_MS = 24 * 60 * 60 * 1000;

interface CachedEndpoint {
  /** As last read or written. */
  stored: Endpoint;
  /** `stored` with the observations since. */
  current: Endpoint;
  /** Observations that are not stored yet, as far as they change something. */
  seen: Observation[];
  /** When it was last looked at here. */
  usedAt: number;
}

export type EndpointCache = ReturnType<typeof createEndpointCache>;

/** This replica's view of endpoints: as stored, with its own observations since applied on top. */
export function createEndpointCache(options: { store: EndpointStore; logger: Logger; now: () => Date }) {
  const { store, logger, now } = options;
  const cache = new Map<string, CachedEndpoint>();
  let onCircuitChange: (endpoint: Endpoint) => void = () => undefined;
  let since = new Date(now().getTime() - FIRST_LOOK_BACK_MS);
  let isFailing = false;
  let syncing: Promise<void> | undefined;
  /** When changes were last exchanged, exact enough to say when an endpoint was looked at. */
  let syncedAt = now().getTime();

  function cachedFor(identity: EndpointIdentity): CachedEndpoint {
    let cached = cache.get(identity._id);
    if (!cached) {
      const fresh = newEndpoint(identity, now());
      cached = { stored: fresh, current: fresh, seen: [], usedAt: 0 };
      cache.set(identity._id, cached);
    }
    cached.usedAt = syncedAt;
    return cached;
  }

  /** Takes over a newer stored version, and applies the observations since on top. */
  function apply(cached: CachedEndpoint, stored: Endpoint): void {
    if (stored.rev <= cached.stored.rev) return;
    cached.stored = stored;
    replace(cached, cached.seen.reduce(observe, stored));
  }

  function replace(cached: CachedEndpoint, next: Endpoint): void {
    const before = cached.current;
    cached.current = next;
    if (before.circuit.state !== next.circuit.state) onCircuitChange(next);
  }

  async function save(): Promise<void> {
    const changed = [...cache.values()].filter(({ stored, current }) => stored !== current);
    const sent = changed.map((cached) => ({
      cached,
      next: { ...cached.current, rev: cached.stored.rev + 1 },
      seen: cached.seen.length,
    }));
    const unsaved = await store.save(sent.map(({ next }) => next));
    for (const { cached, next, seen } of sent) {
      if (unsaved.has(next._id)) continue;
      cached.seen = cached.seen.slice(seen);
      cached.stored = next;
      cached.current = cached.seen.reduce(observe, next);
    }
    if (unsaved.size === 0) return;
    for (const stored of await store.load([...unsaved])) apply(cachedFor(stored), stored);
  }

  async function readChanges(): Promise<void> {
    const changes = await store.changedSince(since);
    for (const stored of changes) {
      const cached = cache.get(stored._id);
      if (cached) apply(cached, stored);
    }
    const last = changes.at(-1)?.updated_at;
    const overlapMs = changes.length < CHANGES_PER_READ ? OVERLAP_MS : 0;
    if (last) since = new Date(Math.max(since.getTime(), last.getTime() - overlapMs));
  }

  function forget(): void {
    const idleSince = now().getTime() - IDLE_MS;
    for (const [id, { stored, current, usedAt }] of cache)
      if (stored === current && usedAt < idleSince) cache.delete(id);
    if (cache.size <= MAX_CACHED) return;
    for (const [id, { stored, current }] of cache) {
      if (stored === current && current.circuit.state === "closed") cache.delete(id);
      if (cache.size <= MAX_CACHED / 2) return;
    }
  }

  async function syncOnce(): Promise<void> {
    syncedAt = now().getTime();
    try {
      await save();
      await readChanges();
      forget();
      if (isFailing) logger.info("endpoint states are shared with other replicas again");
      isFailing = false;
    } catch (err) {
      if (!isFailing) logger.error({ err }, "endpoint states can't be shared with other replicas; retrying");
      isFailing = true;
    }
  }

  /** Stores observations and reads the changes of other replicas. A timer calls it; call it once more at the end. */
  function sync(): Promise<void> {
    syncing ??= syncOnce().finally(() => {
      syncing = undefined;
    });
    return syncing;
  }

  const timer = setInterval(() => void sync(), SYNC_MS);
  timer.unref();

  return {
    /** Loads these unless they are cached. Errors: the store is unavailable. */
    async load(identities: readonly EndpointIdentity[]): Promise<void> {
      const unknown = new Map(identities.filter(({ _id }) => !cache.has(_id)).map((each) => [each._id, each]));
      if (unknown.size === 0) return;
      const stored = await store.load([...unknown.keys()]);
      for (const identity of unknown.values()) cachedFor(identity);
      for (const each of stored) apply(cachedFor(each), each);
    },

    /** Returns an endpoint as cached; as a new one if it was never loaded. */
    get: (identity: EndpointIdentity): Endpoint => cachedFor(identity).current,

    /** Applies the result of an attempt: immediately here, for other replicas within about a second. */
    observe(identity: EndpointIdentity, seen: Observation): void {
      const cached = cachedFor(identity);
      const next = observe(cached.current, seen);
      if (next === cached.current) return;
      cached.seen.push(seen);
      const hasTurned = next.circuit.state !== cached.current.circuit.state;
      replace(cached, next);
      if (hasTurned) void sync();
    },

    /** Claims the probe of an open circuit until then. Returns false if another replica has it. */
    async claimProbe(identity: EndpointIdentity, until: Date): Promise<boolean> {
      await sync();
      const cached = cachedFor(identity);
      if (cached.stored !== cached.current || !mayProbe(cached.current.circuit, now())) return false;
      const next = { ...probing(cached.current, until), rev: cached.stored.rev + 1 };
      const lost = (await store.save([next])).has(next._id);
      if (lost) for (const stored of await store.load([next._id])) apply(cached, stored);
      else if (cached.stored.rev < next.rev) {
        cached.stored = next;
        replace(cached, cached.seen.reduce(observe, next));
      }
      return !lost;
    },

    /** Sets what is called when the state of an endpoint's circuit changed, here or in another replica. */
    onCircuitChange(listener: typeof onCircuitChange): void {
      onCircuitChange = listener;
    },

    sync,
    close: () => clearInterval(timer),
  };
}
