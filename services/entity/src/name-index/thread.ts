// The thread that holds the index of both environments: reads all names, answers searches, and follows changes.
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { databaseClock } from "@vvs/mongo";
import { type Environment, environments } from "@vvs/tenant";
import { MongoClient, type ResumeToken } from "mongodb";
import { type Change, createFeed, type Feed, type FollowOptions, isHistoryLost } from "./feed.ts";
import type { SearchMessage, ThreadData, ThreadMessage } from "./messages.ts";
import { createMatchIndexBuilder, type MatchIndex } from "./name-index.ts";
import { createPassedOver } from "./passed-over.ts";

const LEAST_MAX_CHANGES = 20_000;
const MAX_CHANGED_SHARE = 0.04;
const RETRY_MS = 1_000;
/** The service is told no more often until when nothing is missing: a load makes thousands of changes a second. */
const POSITION_MS = 100;

const { mongodbUri, databases, maxChanges, isRenewal } = workerData as ThreadData;
const port = parentPort!;
const tell = (message: ThreadMessage) => port.postMessage(message);

const client = new MongoClient(mongodbUri, {
  appName: "entity-match-index",
  readConcern: { level: "majority" },
  maxPoolSize: 4,
});
const now = await databaseClock({ client, stopping: new AbortController().signal });
const startedAt = performance.now();
const indexes: Partial<Record<Environment, MatchIndex>> = {};
const follows: (() => Promise<void>)[] = [];
let entities = 0;
for (const environment of environments) {
  const feed = createFeed(client.db(databases[environment]), now);
  const builder = createMatchIndexBuilder();
  const since = await feed.readAll(builder.add, isRenewal ? 1 : 0);
  entities += builder.entityCount;
  const index = builder.finish();
  indexes[environment] = index;
  follows.push(() => followFor(environment, feed, index, { since }));
}
port.on("message", (message: SearchMessage) => {
  const { number, environment, name, organizationId, limit } = message;
  try {
    tell({ kind: "found", number, result: indexes[environment]!.search(name, organizationId, limit) });
  } catch (error) {
    tell({ kind: "refused", number, error });
  }
});
const names = Object.values(indexes).reduce((sum, { nameCount }) => sum + nameCount, 0);
tell({ kind: "ready", entities, names, seconds: (performance.now() - startedAt) / 1_000 });
await Promise.all(follows.map((follow) => follow()));

/**
 * Follows changes for as long as they fit, and then those of organizations' own entities alone, which come one by one;
 * goes on where it was when the database was away.
 */
async function followFor(
  environment: Environment,
  feed: Feed,
  index: MatchIndex,
  start: FollowOptions["from"],
): Promise<void> {
  const most = maxChanges ?? Math.max(LEAST_MAX_CHANGES, index.nameCount * MAX_CHANGED_SHARE);
  const passedOver = createPassedOver({ most: Math.max(most, index.nameCount), now: () => performance.now() });
  let from = start;
  let toldAt = 0;
  const apply = (change: Change) => {
    if ("removedId" in change) index.remove(change.removedId);
    else if (index.changes < most || change.entity.owner !== null) index.put(change.entity);
    else passedOver.add();
  };
  const onPosition = (completeUntil: number, resumeAfter: ResumeToken) => {
    from = { resumeAfter };
    if (index.changes >= most) {
      if (passedOver.isRenewalDue()) tell({ kind: "full" });
    } else if (performance.now() - toldAt >= POSITION_MS) {
      toldAt = performance.now();
      tell({ kind: "position", environment, completeUntil });
    }
  };
  for (;;) {
    try {
      await feed.follow({ from, tell: apply, onPosition, signal: new AbortController().signal });
    } catch (error) {
      if (isHistoryLost(error)) throw error;
      tell({ kind: "away", environment, error });
      await wait(RETRY_MS);
    }
  }
}
