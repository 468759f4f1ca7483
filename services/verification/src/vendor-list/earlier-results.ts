import type { Check } from "@vvs/checks";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import { createOutbox } from "@vvs/outbox";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Environment } from "@vvs/tenant";
import type { Collection, Db, Filter, MongoClient } from "mongodb";
import { toCompletedAgain } from "../checks/completed-records.ts";
import { latestOfVendor, newestOf } from "../checks/latest-answers.ts";
import type { VerificationDocument } from "../documents.ts";
import { collectionsOf } from "../store.ts";

/** How far the verifications from before lists of vendors existed were published for them. */
interface ProgressDocument {
  readonly _id: "earlier_results";
  /** The last vendor whose verifications were published; absent before the first. */
  readonly after?: { readonly organization_id: string; readonly entity_id: string };
  readonly done: boolean;
}

/** Maximum number of vendors in a transaction. */
const BATCH = 100;
/** A vendor's verifications that are looked at, newest first, for the newest result and answer of each check. */
const LOOKED_AT = 20;
/** Pause between two batches, so that records of new verifications do not wait behind many others. */
const PAUSE_MS = 250;
const NOT_MIGRATED_MS = 60_000;
const BY_VENDOR = { organization_id: 1, entity_id: 1, created_at: -1, _id: -1 } as const;

const progressOf = (db: Db): Collection<ProgressDocument> => db.collection("vendor_list_progress");

/** Creates the document of the progress. It may run repeatedly. */
export async function migrateEarlierResults(db: Db): Promise<void> {
  await progressOf(db).updateOne({ _id: "earlier_results" }, { $setOnInsert: { done: false } }, { upsert: true });
}

/**
 * Creates a function that publishes the newest verifications of the next vendors once more, for entity's lists of vendors.
 * One transaction stores the records and the progress: after a crash, or beside another replica, nothing is left out.
 * Returns whether there may be more. Errors: those of the database.
 */
export function createPublishEarlierResults(options: {
  environment: Environment;
  client: MongoClient;
  db: Db;
  /** Full name of the environment's topic verification.completed.direct. */
  topic: string;
  /** Wakes the outbox relay. */
  nudge: () => void;
}): () => Promise<"more" | "done" | "not migrated"> {
  const { environment, client, db, topic, nudge } = options;
  const { verifications, latestAnswers } = collectionsOf(db);
  const progress = progressOf(db);
  const outbox = createOutbox({ db });

  async function nextVendor(after: ProgressDocument["after"]): Promise<ProgressDocument["after"]> {
    const first = (filter: Filter<VerificationDocument>) =>
      verifications.find(filter).hint(BY_VENDOR).sort(BY_VENDOR).limit(1).next();
    const { organization_id, entity_id } = after ?? { organization_id: "", entity_id: "" };
    const found =
      (await first({ organization_id, entity_id: { $gt: entity_id } })) ??
      (await first({ organization_id: { $gt: organization_id } }));
    return found ? { organization_id: found.organization_id, entity_id: found.entity_id } : undefined;
  }

  async function recordsOf(newest: readonly VerificationDocument[]) {
    const questions = newest.flatMap((one) =>
      one.results.map(({ check_type }) => latestOfVendor({ ...one, check_type })),
    );
    const found = questions.length > 0 ? await latestAnswers.find({ $or: questions }).toArray() : [];
    const byId = new Map(found.flatMap((each) => [each.answer, newestOf(each)]).map((answer) => [answer._id, answer]));
    return newest.map((verification) => {
      const { _id: id, organization_id: organizationId } = verification;
      return { id, topic, key: id, value: toCompletedAgain({ organizationId, environment }, verification, byId) };
    });
  }

  return async () => {
    const before = await progress.findOne({ _id: "earlier_results" });
    if (!before) return "not migrated";
    if (before.done) return "done";
    let after = before.after;
    const newest: VerificationDocument[] = [];
    let done = false;
    for (let vendors = 0; vendors < BATCH && !done; vendors++) {
      const vendor = await nextVendor(after);
      done = vendor === undefined;
      if (!vendor) continue;
      after = vendor;
      newest.push(...needed(await verifications.find(vendor).sort(BY_VENDOR).limit(LOOKED_AT).toArray()));
    }
    const records = await recordsOf(newest);
    await inTransaction(client, async (session) => {
      const asRead = { _id: "earlier_results" as const, done: false, after: before.after ?? { $exists: false } };
      const next = { $set: { done, ...(after && { after }) } };
      const { matchedCount } = await progress.updateOne(asRead, next, { session });
      if (matchedCount === 1) await outbox.append(session, ...records);
    });
    nudge();
    return done ? "done" : "more";
  };
}

/** Returns those of a vendor's verifications, newest first, that have the newest result or the newest answer of a check. */
export function needed(newestFirst: readonly VerificationDocument[]): VerificationDocument[] {
  const known = new Set<`${Check}:${"result" | "answer"}`>();
  return newestFirst.filter(({ results }) => {
    const before = known.size;
    for (const { check_type, status } of results) {
      known.add(`${check_type}:result`);
      if (status !== "error") known.add(`${check_type}:answer`);
    }
    return known.size > before;
  });
}

/** Publishes the earlier verifications of one environment, once, in the background. */
export function startPublishingEarlierResults(
  options: Parameters<typeof createPublishEarlierResults>[0] & { stopping: AbortSignal; logger: Logger },
): SupervisedLoop {
  const { environment, stopping, logger } = options;
  const publish = createPublishEarlierResults(options);
  const next = { more: PAUSE_MS, done: "done", "not migrated": NOT_MIGRATED_MS } as const;
  return superviseLoop({
    async round() {
      const outcome = await publish();
      if (outcome === "done") logger.info({ environment }, "the lists of vendors have all earlier verifications");
      return next[outcome];
    },
    failure: "earlier verifications can't be published for the lists of vendors; trying until they can",
    recovery: "earlier verifications are published for the lists of vendors again",
    backoff: { firstMs: 1_000, longestMs: 30_000 },
    stopping,
    logger,
  });
}
