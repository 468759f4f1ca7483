// The thread that holds the index of both environments: reads all names, answers searches, and follows changes.
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { type Environment, environments } from "@vvs/tenant";
import { MongoClient, type ResumeToken } from "mongodb";
import { type Change, createFeed, type Feed, type FollowOptions, isHistoryLost } from "./feed.ts";
import { createMatchIndexBuilder, type MatchIndex } from "./match-index.ts";
import type { SearchMessage, ThreadData, ThreadMessage } from "./messages.ts";

const LEAST_MAX_CHANGES = 20_000;
const MAX_CHANGED_SHARE = 0.04;
const RETRY_MS = 1_000;
/** While a registry is loaded nothing is read anew: only once there were fewer changes than this for so long. */
const CALM_CHANGES = 100;
const CALM_MS = 5_000;
/** But at the latest after this. */
const LONGEST_STORM_MS = 600_000;

const { mongodbUri, databases, maxChanges } = workerData as ThreadData;
const port = parentPort!;
const tell = (message: ThreadMessage) => port.postMessage(message);

const client = new MongoClient(mongodbUri, {
  appName: "entity-match-index",
  readConcern: { level: "majority" },
  maxPoolSize: 4,
});
const startedAt = performance.now();
const indexes: Partial<Record<Environment, MatchIndex>> = {};
const follows: (() => Promise<void>)[] = [];
let entities = 0;
for (const environment of environments) {
  const feed = createFeed(client.db(databases[environment]));
  const since = await feed.now();
  const builder = createMatchIndexBuilder();
  await feed.readAll(builder.add);
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

/** Follows changes for as long as they fit; goes on where it was when the database was away. */
async function followFor(
  environment: Environment,
  feed: Feed,
  index: MatchIndex,
  start: FollowOptions["from"],
): Promise<void> {
  const most = maxChanges ?? Math.max(LEAST_MAX_CHANGES, index.nameCount * MAX_CHANGED_SHARE);
  const storm = watchStorm();
  let from = start;
  const apply = (change: Change) => {
    if (index.changes >= most) storm.count();
    else if ("entity" in change) index.put(change.entity);
    else index.remove(change.removedId);
  };
  const onPosition = (completeUntil: number, resumeAfter: ResumeToken) => {
    from = { resumeAfter };
    if (index.changes < most) tell({ kind: "position", environment, completeUntil });
    else if (storm.isOver()) tell({ kind: "full" });
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

/** Tells when changes that are no longer taken in have become few. */
function watchStorm() {
  let beganAt: number | undefined;
  let windowAt = 0;
  let inWindow = 0;
  let told = false;
  return {
    count() {
      inWindow++;
    },
    isOver(): boolean {
      const now = performance.now();
      if (told) return false;
      if (beganAt === undefined) {
        beganAt = now;
        windowAt = now;
      }
      if (now - windowAt < CALM_MS && now - beganAt < LONGEST_STORM_MS) return false;
      told = inWindow < CALM_CHANGES || now - beganAt >= LONGEST_STORM_MS;
      windowAt = now;
      inWindow = 0;
      return told;
    },
  };
}
