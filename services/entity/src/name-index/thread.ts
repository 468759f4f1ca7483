// The thread with the name index of both environments: reads all names, answers searches and follows changes.
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { databaseClock } from "@vvs/mongo";
import { type Environment, environments } from "@vvs/tenant";
import { MongoClient } from "mongodb";
import { type Change, createFeed, type Feed, type FollowFrom, isHistoryLost } from "./feed.ts";
import type { SearchMessage, ThreadData, ThreadMessage } from "./messages.ts";
import { createMatchIndexBuilder, type MatchIndex } from "./name-index.ts";
import { createPassedOver } from "./passed-over.ts";

const LEAST_MAX_CHANGES = 20_000;
const MAX_CHANGED_SHARE = 0.04;
const RETRY_MS = 1_000;
/** Minimum time between two position messages: a load makes thousands of changes a second. */
const POSITION_MS = 100;

const { mongodbUri, databases, maxChanges, isRenewal } = workerData as ThreadData;
const port = parentPort!;
const post = (message: ThreadMessage) => port.postMessage(message);

const client = new MongoClient(mongodbUri, {
  appName: "entity-match-index",
  readConcern: { level: "majority" },
  maxPoolSize: 4,
});
const now = await databaseClock({ client, stopping: new AbortController().signal });
const startedAt = performance.now();
const indexes: Partial<Record<Environment, MatchIndex>> = {};
const follows: (() => Promise<void>)[] = [];
for (const environment of environments) {
  const feed = createFeed(client.db(databases[environment]), now);
  const builder = createMatchIndexBuilder();
  const since = await feed.readAll(builder.add, isRenewal ? 1 : 0);
  const index = builder.finish();
  indexes[environment] = index;
  follows.push(() => followFor(environment, feed, index, { since }));
}
port.on("message", (message: SearchMessage) => {
  const { number, environment, name, organizationId, limit } = message;
  try {
    post({ kind: "found", number, result: indexes[environment]!.search(name, organizationId, limit) });
  } catch (error) {
    post({ kind: "refused", number, error });
  }
});
const names = Object.values(indexes).reduce((sum, { nameCount }) => sum + nameCount, 0);
post({ kind: "ready", names, seconds: (performance.now() - startedAt) / 1_000 });
await Promise.all(follows.map((follow) => follow()));

/**
 * Applies changes until the index is full, then only those of organizations' own entities, which are few. Continues from
 * the last position after MongoDB was unavailable.
 */
async function followFor(environment: Environment, feed: Feed, index: MatchIndex, start: FollowFrom): Promise<void> {
  const most = maxChanges ?? Math.max(LEAST_MAX_CHANGES, index.nameCount * MAX_CHANGED_SHARE);
  // During a registry's first load, the index is rebuilt each time the registry has doubled.
  const passedOver = createPassedOver({ most: Math.max(most, index.nameCount), now: () => performance.now() });
  let from = start;
  let postedAt = 0;
  const apply = (change: Change) => {
    if ("removedId" in change) index.remove(change.removedId);
    else if (index.changes < most || change.entity.owner !== null) index.put(change.entity);
    else passedOver.add();
  };
  for (;;) {
    try {
      for await (const { change, completeUntil, resumeAfter } of feed.follow(from)) {
        if (change) apply(change);
        from = { resumeAfter };
        if (index.changes >= most) {
          if (passedOver.isRenewalDue()) post({ kind: "full" });
        } else if (performance.now() - postedAt >= POSITION_MS) {
          postedAt = performance.now();
          post({ kind: "position", environment, completeUntil });
        }
      }
    } catch (error) {
      if (isHistoryLost(error)) throw error;
      post({ kind: "away", environment, error });
      await wait(RETRY_MS);
    }
  }
}
