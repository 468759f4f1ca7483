import { type ClientSession, type Collection, type MongoClient, MongoServerError } from "mongodb";
import type { Collections } from "../model/documents.ts";
import { loadExclusions } from "../registry-load/load-exclusions.ts";
import { loadExtract } from "../registry-load/load-extract.ts";
import type { LoadOptions } from "../registry-load/load-log.ts";
import {
  type ExclusionOf,
  exclusionsText,
  extractRowText,
  extractText,
  ordinalDay,
  writeText,
} from "../registry-load/testing/registry-files.ts";
import { withdrawLoad } from "../registry-load/withdraw.ts";
import type { TestApplication } from "./application.ts";

// Loads generated files into a test application's live environment.

export type Service = Pick<TestApplication, "gateway" | "verification">;

/** Options of a load that replace the application's. */
export type LoadOverrides = Partial<Pick<LoadOptions, "client" | "collections" | "onWait">>;

export function createLoads(app: TestApplication) {
  const own = () => ({ client: app.client, collections: app.live, now: () => new Date(app.clock.now) });
  return {
    /** Loads an extract, cut on a day of September 2026; each row has the fields that differ from the default row. */
    async load(
      rows: Record<number, string>[],
      options: LoadOverrides & { day?: string; count?: number; acceptFewer?: boolean } = {},
    ) {
      const { day = "06", count, ...overrides } = options;
      const text = extractText(rows.map(extractRowText), { count }).replaceAll("20260906", `202609${day}`);
      const path = await writeText(`SAM_PUBLIC_202609${day}.dat`, text);
      return loadExtract({ ...own(), path, ...overrides });
    },
    /** Loads an exclusions file of a day. */
    async exclude(
      rows: readonly ExclusionOf[],
      day = "2026-01-10",
      options: LoadOverrides & { acceptFewer?: boolean } = {},
    ) {
      const name = `exclusions_${ordinalDay(day)}.csv`;
      const path = await writeText(name, exclusionsText(rows));
      return loadExclusions({ ...own(), path, ...options });
    },
    withdraw: (loadId: string, options: LoadOverrides = {}) =>
      withdrawLoad({ ...own(), loadId, by: "jo@host", reason: "wrong month", ...options }),
    /** Lets another load or withdrawal take over, as if the process of the one that is paused had ended. */
    expireLock: () => app.live.loadLocks.updateOne({ _id: "load" }, { $set: { until: new Date(0) } }),
    async clear() {
      await Promise.all(Object.values(app.live).map((collection: Collection) => collection.deleteMany({})));
    },
    /** Returns everything that loads write, as one text. */
    async everything() {
      const { entities, snapshots, exclusions, changes } = app.live;
      const all = [entities, snapshots, exclusions, changes] as readonly unknown[] as Collection[];
      return JSON.stringify(await Promise.all(all.map((each) => each.find().toArray())));
    },
  };
}

/** Called before a session's transaction commits, and after it aborted. */
interface Hooks {
  readonly onCommit?: (session: ClientSession) => Promise<void> | void;
  readonly onAbort?: () => void;
}

/** Returns the client with hooks in its sessions' transactions. */
function hookedClient(client: MongoClient, { onCommit, onAbort }: Hooks): MongoClient {
  const startSession = () => {
    const session = client.startSession();
    const { commitTransaction, abortTransaction } = session;
    session.commitTransaction = async () => {
      await onCommit?.(session);
      return commitTransaction.call(session);
    };
    session.abortTransaction = async (options) => {
      await abortTransaction.call(session, options);
      onAbort?.();
    };
    return session;
  };
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = name === "startSession" ? startSession : Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Returns the collections with a hook before the first write of each transaction of a load, which is to its lock. */
function hookedCollections(collections: Collections, onBegin: () => Promise<void>): Collections {
  const loadLocks = new Proxy(collections.loadLocks, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        if (name === "updateOne" && (given.at(-1) as { session?: ClientSession }).session) await onBegin();
        return value.apply(target, given);
      };
    },
  });
  return { ...collections, loadLocks };
}

/**
 * Returns a client and collections for a load. Its transaction with that number (from 0) waits for `begin` before its first
 * write, and for `commit` before it commits; the others don't wait. `aborted` resolves once any of them was aborted.
 */
export function pausingTransaction(app: TestApplication, number: number) {
  const [beginning, begun, committing, committed, aborted] = Array.from({ length: 5 }, () =>
    Promise.withResolvers<void>(),
  );
  let count = 0;
  let isPaused = false;
  const collections = hookedCollections(app.live, async () => {
    isPaused = count++ === number;
    if (!isPaused) return;
    beginning!.resolve();
    await begun!.promise;
  });
  const client = hookedClient(app.client, {
    async onCommit() {
      if (!isPaused) return;
      isPaused = false;
      committing!.resolve();
      await committed!.promise;
    },
    onAbort: () => aborted!.resolve(),
  });
  return {
    given: { client, collections },
    beginning: beginning!.promise,
    begin: begun!.resolve,
    committing: committing!.promise,
    commit: committed!.resolve,
    aborted: aborted!.promise,
    transactions: () => count,
  };
}

/**
 * Begins work that stops before the first write of its transaction with that number, as if its process were killed. Returns a
 * function that lets it go on, and returns its error as text.
 */
export async function killedAt(
  app: TestApplication,
  number: number,
  work: (given: LoadOverrides) => Promise<unknown>,
): Promise<() => Promise<string>> {
  const paused = pausingTransaction(app, number);
  const working = work(paused.given).catch((error: unknown) => error);
  await paused.beginning;
  return async () => {
    paused.begin();
    paused.commit();
    return String(await working);
  };
}

/**
 * Returns a client; its first commit waits for `commit`, or for `abort`, which releases the transaction's locks, and then
 * for `retry`, which starts the transaction again.
 */
export function pausingCommit(client: MongoClient) {
  const committing = Promise.withResolvers<void>();
  const decided = Promise.withResolvers<"commit" | "abort">();
  const aborted = Promise.withResolvers<void>();
  const retried = Promise.withResolvers<void>();
  let isFirst = true;
  const hooked = hookedClient(client, {
    async onCommit(session) {
      if (!isFirst) return;
      isFirst = false;
      committing.resolve();
      if ((await decided.promise) === "commit") return;
      await session.abortTransaction();
      aborted.resolve();
      await retried.promise;
      throw new MongoServerError({ message: "aborted by the test", errorLabels: ["TransientTransactionError"] });
    },
  });
  return {
    client: hooked,
    committing: committing.promise,
    commit: () => decided.resolve("commit"),
    abort() {
      decided.resolve("abort");
      return aborted.promise;
    },
    retry: retried.resolve,
  };
}

/** The orders in which a load and a write of the same identifiers can commit. */
const commitOrders = [
  "commits before the load continues",
  "commits after the load",
  "starts again after the load",
] as const;

/**
 * Runs a load with a write of the same identifiers beside it: for each transaction of the load in every order of commits.
 * `before` is called before each run and `after` once both have ended, with what tells the run.
 */
export async function inEveryOrder(
  app: TestApplication,
  runs: {
    before(): Promise<unknown>;
    load(given: LoadOverrides): Promise<unknown>;
    write(by: Service): Promise<unknown>;
    after(run: object, by: Service): Promise<void>;
  },
): Promise<void> {
  await runs.before();
  const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
  await runs.load(undisturbed.given);
  for (let step = 0; step < undisturbed.transactions(); step++) {
    for (const order of commitOrders) {
      await runs.before();
      const loader = pausingTransaction(app, step);
      const loading = runs.load(loader.given);
      loader.commit();
      await loader.beginning;
      const writer = pausingCommit(app.client);
      const service = await app.serve({ ...app.rings, client: writer.client });
      await commitInOrder(order, { loader, loading }, { writer, writing: runs.write(service) });
      await runs.after({ step, order }, service);
      await service.stop();
    }
  }
}

/** Lets a write and a paused load commit in an order, and waits for both. */
async function commitInOrder(
  order: (typeof commitOrders)[number],
  { loader, loading }: { loader: ReturnType<typeof pausingTransaction>; loading: Promise<unknown> },
  { writer, writing }: { writer: ReturnType<typeof pausingCommit>; writing: Promise<unknown> },
): Promise<void> {
  const isCommitting = await Promise.race([writer.committing.then(() => true), writing.then(() => false)]);
  if (isCommitting && order === "starts again after the load") {
    await writer.abort();
    loader.begin();
    await loading;
    writer.retry();
  } else if (order === "commits after the load") {
    loader.begin();
    // If the load waits for the write, it is aborted and starts again.
    await Promise.race([loading, loader.aborted]);
  }
  writer.commit();
  await writing;
  loader.begin();
  await loading;
}
