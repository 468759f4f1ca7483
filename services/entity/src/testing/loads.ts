import { type ClientSession, type Collection, type MongoClient, MongoServerError } from "mongodb";
import type { Collections } from "../model/documents.ts";
import { loadExclusions } from "../registry-load/load-exclusions.ts";
import { loadExtract } from "../registry-load/load-extract.ts";
import type { LoadOptions } from "../registry-load/load-log.ts";
import {
  extractRowText,
  extractText,
  inTemporaryDirectory,
  writeText,
} from "../registry-load/testing/registry-files.ts";
import type { TestApplication } from "./application.ts";

// Loads generated files into a test application's live environment.

/** Options of a load that replace the application's. */
export type LoadOverrides = Partial<Pick<LoadOptions, "client" | "collections" | "onWait">>;

/** Fields of an exclusion; the others are those of a firm, without an end. */
export interface ExclusionOf {
  readonly uei?: string;
  readonly cage?: string;
  readonly from?: string;
  readonly until?: string;
  readonly agency?: string;
  readonly comment?: string;
  readonly samNumber?: string;
  readonly name?: string;
  /** First, middle and last name and suffix of a person, who has no other name. */
  readonly person?: readonly [first: string, middle: string, last: string, suffix: string];
}

const TITLES =
  "Classification,Name,First,Middle,Last,Suffix,Unique Entity ID,Exclusion Program,Excluding Agency,CT Code,Exclusion Type,Additional Comments," +
  "Active Date,Termination Date,SAM Number,CAGE,Creation_Date";

export function createLoads(app: TestApplication) {
  const own = () => ({ client: app.client, collections: app.live, now: () => new Date(app.clock.now) });
  return {
    /** Loads an extract, cut on a day of September 2026; each row has the fields that differ from the default row. */
    load(
      rows: Record<number, string>[],
      options: LoadOverrides & { day?: string; count?: number; acceptFewer?: boolean } = {},
    ) {
      const { day = "06", count, ...overrides } = options;
      const text = extractText(rows.map(extractRowText), { count }).replaceAll("20260906", `202609${day}`);
      return inTemporaryDirectory(async (directory) => {
        const path = await writeText(directory, `SAM_PUBLIC_202609${day}.dat`, text);
        return loadExtract({ ...own(), path, ...overrides });
      });
    },
    /** Loads an exclusions file of a day of 2026; the SAM number of each row contains its UEI or CAGE if none is given. */
    exclude(rows: readonly ExclusionOf[], day = "2026-01-10", options: LoadOverrides & { acceptFewer?: boolean } = {}) {
      const lines = rows.map(
        ({
          uei = "",
          cage = "",
          from = "2020-01-01",
          until = "Indefinite",
          agency = "GSA",
          comment = "",
          samNumber,
          name = "X",
          person,
        }) => {
          const who = person ? ["Individual", "", ...person] : ["Firm", name, "", "", "", ""];
          const fields = [...who, uei, "Reciprocal", agency, "R", "Ineligible", comment, from, until];
          return [...fields, samNumber ?? `S4MR${uei || cage}`, cage, "2026-01-01"]
            .map((field) => `"${field}"`)
            .join(",");
        },
      );
      const dayOfYear = (Date.parse(day) - Date.parse("2026-01-01")) / 86_400_000 + 1;
      const name = `exclusions_26${String(dayOfYear).padStart(3, "0")}.csv`;
      return inTemporaryDirectory(async (directory) => {
        const path = await writeText(directory, name, [TITLES, ...lines].join("\n"));
        return loadExclusions({ ...own(), path, ...options });
      });
    },
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
export const commitOrders = [
  "commits before the load continues",
  "commits after the load",
  "starts again after the load",
] as const;

/** Lets a write and a paused load commit in an order, and waits for both. */
export async function commitInOrder(
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
