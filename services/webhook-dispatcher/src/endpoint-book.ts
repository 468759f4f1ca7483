import type { Logger } from "@vvs/logging";
import { mayProbe, newEndpoint, type Observation, observe, probing } from "./circuit.ts";
import type { Endpoint } from "./endpoint.ts";
import { type EndpointStore, NEWS_AT_ONCE } from "./endpoint-store.ts";

/** News of other replicas is looked for this often, and one's own is stored this often. */
const LOOK_MS = 1_000;
/** Between a change's time and its being seen by a look. */
const OVERLAP_MS = 3_000;
/** Room for clocks that differ. */
const FIRST_LOOK_BACK_MS = 60_000;
const MAX_KEPT = 50_000;

export type EndpointIdentity = Pick<Endpoint, "_id" | "organization_id" | "url">;

/** What this replica knows of endpoints: as stored, with what it saw itself on top. */
export interface EndpointBook {
  /** Makes sure that these are known. Errors: the store is away. */
  load(identities: readonly EndpointIdentity[]): Promise<void>;
  /** As known; as new where it was never loaded. */
  get(identity: EndpointIdentity): Endpoint;
  /** What an attempt says of it counts at once, and is stored soon. */
  observe(identity: EndpointIdentity, seen: Observation): void;
  /** Makes the probe of an open circuit one's own until then, for all replicas; false where another has it. */
  claimProbe(identity: EndpointIdentity, until: Date): Promise<boolean>;
  /** Looks for news and stores what was seen; called by a timer, and at the end. */
  sync(): Promise<void>;
  close(): void;
}

interface Page {
  /** As last read or written. */
  stored: Endpoint;
  /** With what was seen since on top. */
  current: Endpoint;
  /** What was seen since, as far as it is news. */
  seen: Observation[];
}

export function createEndpointBook(options: {
  store: EndpointStore;
  /** Its circuit opened, or let more pass again. */
  onCircuit: (endpoint: Endpoint) => void;
  logger: Logger;
  now: () => Date;
}): EndpointBook {
  const { store, logger, now } = options;
  const pages = new Map<string, Page>();
  let since = new Date(now().getTime() - FIRST_LOOK_BACK_MS);
  let troubled = false;
  let syncing: Promise<void> | undefined;

  function pageOf(identity: EndpointIdentity): Page {
    let page = pages.get(identity._id);
    if (!page) {
      const fresh = newEndpoint(
        { _id: identity._id, organization_id: identity.organization_id, url: identity.url },
        now(),
      );
      page = { stored: fresh, current: fresh, seen: [] };
      pages.set(identity._id, page);
    }
    return page;
  }

  /** Takes over what is stored, and lays what was seen since on top. */
  function read(page: Page, stored: Endpoint): void {
    if (stored.rev <= page.stored.rev) return;
    page.stored = stored;
    become(page, page.seen.reduce(observe, stored));
  }

  function become(page: Page, next: Endpoint): void {
    const before = page.current;
    page.current = next;
    if (before.circuit.state !== next.circuit.state) options.onCircuit(next);
  }

  async function save(): Promise<void> {
    const changed = [...pages.values()].filter(({ stored, current }) => stored !== current);
    const sent = changed.map((page) => ({
      page,
      next: { ...page.current, rev: page.stored.rev + 1 },
      seen: page.seen.length,
    }));
    const unsaved = await store.save(sent.map(({ next }) => next));
    for (const { page, next, seen } of sent) {
      if (unsaved.has(next._id)) continue;
      page.seen = page.seen.slice(seen);
      page.stored = next;
      page.current = page.seen.reduce(observe, next);
    }
    if (unsaved.size === 0) return;
    for (const stored of await store.load([...unsaved])) read(pageOf(stored), stored);
  }

  async function look(): Promise<void> {
    const news = await store.changedSince(since);
    for (const stored of news) {
      const page = pages.get(stored._id);
      if (page) read(page, stored);
    }
    const last = news.at(-1)?.updated_at;
    const overlapMs = news.length < NEWS_AT_ONCE ? OVERLAP_MS : 0;
    if (last) since = new Date(Math.max(since.getTime(), last.getTime() - overlapMs));
  }

  function forget(): void {
    if (pages.size <= MAX_KEPT) return;
    for (const [id, { stored, current }] of pages) {
      if (stored === current && current.circuit.state === "closed") pages.delete(id);
      if (pages.size <= MAX_KEPT / 2) return;
    }
  }

  async function syncOnce(): Promise<void> {
    try {
      await save();
      await look();
      forget();
      if (troubled) logger.info("what endpoints do is shared with the other replicas again");
      troubled = false;
    } catch (err) {
      if (!troubled) logger.error({ err }, "what endpoints do can't be shared with the other replicas; trying on");
      troubled = true;
    }
  }

  function sync(): Promise<void> {
    syncing ??= syncOnce().finally(() => {
      syncing = undefined;
    });
    return syncing;
  }

  const timer = setInterval(() => void sync(), LOOK_MS);
  timer.unref();

  return {
    async load(identities) {
      const unknown = new Map(identities.filter(({ _id }) => !pages.has(_id)).map((each) => [each._id, each]));
      if (unknown.size === 0) return;
      const stored = await store.load([...unknown.keys()]);
      for (const identity of unknown.values()) pageOf(identity);
      for (const each of stored) read(pageOf(each), each);
    },
    get: (identity) => pageOf(identity).current,
    observe(identity, seen) {
      const page = pageOf(identity);
      const next = observe(page.current, seen);
      if (next === page.current) return;
      page.seen.push(seen);
      const turned = next.circuit.state !== page.current.circuit.state;
      become(page, next);
      if (turned) void sync();
    },
    async claimProbe(identity, until) {
      await sync();
      const page = pageOf(identity);
      if (page.stored !== page.current || !mayProbe(page.current.circuit, now())) return false;
      const next = { ...probing(page.current, until), rev: page.stored.rev + 1 };
      const lost = (await store.save([next])).has(next._id);
      if (lost) for (const stored of await store.load([next._id])) read(page, stored);
      else if (page.stored.rev < next.rev) {
        page.stored = next;
        become(page, page.seen.reduce(observe, next));
      }
      return !lost;
    },
    sync,
    close: () => clearInterval(timer),
  };
}
