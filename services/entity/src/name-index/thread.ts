// The thread with the name index of both environments: reads all names, answers searches and follows changes.
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { databaseClock } from "@vvs/mongo";
import { type Environment, environments } from "@vvs/tenant";
import { MongoClient } from "mongodb";
import type { IndexedEntity } from "./corpus.ts";
import { type Change, createFeed, type Feed, type FollowFrom, isHistoryLost } from "./feed.ts";
import type { SearchMessage, ThreadData, ThreadMessage } from "./messages.ts";
import { createMatchIndexBuilder, type MatchIndex } from "./name-index.ts";
import { createOwnerShares, type OwnerShares } from "./owner-shares.ts";
import { createPassedOver } from "./passed-over.ts";

const LEAST_MAX_CHANGES = 20_000;
const MAX_CHANGED_SHARE = 0.04;
const RETRY_MS = 1_000;
/** Minimum time between two position messages: a load makes thousands of changes a second. */
const POSITION_MS = 100;

const { mongodb, databases, maxChanges, maxOwnNames, isRenewal } = workerData as ThreadData;
const port = parentPort!;
const post = (message: ThreadMessage) => port.postMessage(message);

const client = new MongoClient(mongodb.uri, {
  ...mongodb.tls,
  appName: "entity-match-index",
  readConcern: { level: "majority" },
  maxPoolSize: 4,
});
const now = await databaseClock({ client, stopping: new AbortController().signal });
const startedAt = performance.now();
const indexes: Partial<Record<Environment, { index: MatchIndex; shares: OwnerShares }>> = {};
const follows: (() => Promise<void>)[] = [];
for (const environment of environments) {
  const feed = createFeed(client.db(databases[environment]), now);
  const builder = createMatchIndexBuilder();
  const shares = createOwnerShares({ most: maxOwnNames });
  const since = await feed.readAll((entity) => shares.admits(entity) && builder.add(entity), isRenewal ? 1 : 0);
  const index = builder.finish();
  indexes[environment] = { index, shares };
  follows.push(() => followFor(environment, feed, { index, shares }, { since }));
}
port.on("message", (message: SearchMessage) => {
  const { number, environment, name, organizationId, limit } = message;
  try {
    const { index, shares } = indexes[environment]!;
    const result = { ...index.search(name, organizationId, limit), lacksOwn: shares.isExceeded(organizationId) };
    post({ kind: "found", number, result });
  } catch (error) {
    post({ kind: "refused", number, error });
  }
});
const names = Object.values(indexes).reduce((sum, { index }) => sum + index.nameCount, 0);
post({ kind: "ready", names, seconds: (performance.now() - startedAt) / 1_000 });
await Promise.all(follows.map((follow) => follow()));

/**
 * Applies changes until the index is full, then only those of organizations' own entities, which are few. Continues from
 * the last position after MongoDB was unavailable.
 */
async function followFor(
  environment: Environment,
  feed: Feed,
  { index, shares }: { index: MatchIndex; shares: OwnerShares },
  start: FollowFrom,
): Promise<void> {
  const most = maxChanges ?? Math.max(LEAST_MAX_CHANGES, index.nameCount * MAX_CHANGED_SHARE);
  // During a registry's first load, the index is rebuilt each time the registry has doubled.
  const passedOver = createPassedOver({ most: Math.max(most, index.nameCount), now: () => performance.now() });
  let from = start;
  let postedAt = 0;
  /** An entity that no longer fits loses its old names too, and is found by MongoDB's keys. */
  const putOwn = (entity: IndexedEntity) => (shares.admits(entity) ? index.put(entity) : index.remove(entity.id));
  const apply = (change: Change) => {
    if ("removedId" in change) index.remove(change.removedId);
    else if (change.entity.owner !== null) putOwn(change.entity);
    else if (index.changes < most) index.put(change.entity);
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
          post({ kind: "position", environment, completeUntil, ownNames: shares.sizes() });
        }
      }
    } catch (error) {
      if (isHistoryLost(error)) throw error;
      post({ kind: "away", environment, error });
      await wait(RETRY_MS);
    }
  }
}
