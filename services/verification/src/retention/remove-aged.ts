import { inTransaction } from "@vvs/mongo";
import type { ClientSession, Db } from "mongodb";
import { latestOfVendor } from "../checks/latest-answers.ts";
import type { VerificationDocument } from "../documents.ts";
import { removeBodies } from "../evidence/retention.ts";
import { collectionsOf } from "../store.ts";
import type { PastTime, ReadNames } from "./names.ts";

/** How long a verification outlives the stored answers that rest on it: calls that read one have ended by then. */
const LEAVING_MS = 3_600_000;

/** Handles verifications past their time. Returns how many it removed. Errors: those of the database and of monitor. */
export type RemoveAged = (verifications: readonly VerificationDocument[]) => Promise<number>;

/**
 * Creates the function that removes verifications with their evidence and answers, or keeps them for longer where something
 * names them. Answers go first, so that no later cached call can use them. The rest goes an hour later if still nothing names it.
 */
export function createRemoveAged(options: { db: Db; readNames: ReadNames; now: () => Date }): RemoveAged {
  const { db, readNames, now } = options;
  const { verifications, evidence, latestAnswers } = collectionsOf(db);

  async function withTheirs(list: readonly VerificationDocument[]): Promise<PastTime> {
    const verification_id = { $in: list.map(({ _id }) => _id) };
    const ids = list.flatMap(({ results }) => results.map(({ evidence_id }) => evidence_id));
    const projection = { verification_id: 1, sha256: 1 };
    const own = await evidence.find({ _id: { $in: ids }, verification_id }, { projection }).toArray();
    const questions = list.flatMap((one) =>
      one.results.map(({ check_type }) => latestOfVendor({ ...one, check_type })),
    );
    const latest = await latestAnswers.find({ $or: questions }).toArray();
    return { verifications: list, evidence: own, latest };
  }

  /** Removes the newest answers that are those of verifications. */
  async function removeAnswers({ evidence: own, latest }: PastTime, going: readonly VerificationDocument[]) {
    const ids = new Set(going.map(({ _id }) => _id));
    const theirs = new Set(own.flatMap(({ _id, verification_id }) => (ids.has(verification_id) ? _id : [])));
    const filters = latest.flatMap(({ _id, answer }) =>
      theirs.has(answer._id) ? { _id, "answer._id": answer._id } : [],
    );
    if (filters.length === 0) return;
    await latestAnswers.bulkWrite(
      filters.map((filter) => ({ deleteOne: { filter } })),
      { ordered: false },
    );
  }

  /** Removes verifications with their evidence. Returns how many, and the bodies of the evidence. */
  async function remove(session: ClientSession, { verifications: list, evidence: own }: PastTime) {
    // One that another replica found named meanwhile stays.
    const still = await verifications
      .find({ _id: { $in: list.map(({ _id }) => _id) }, removal: "due" }, { session, projection: { _id: 1 } })
      .toArray();
    const going = new Set(still.map(({ _id }) => _id));
    const theirs = own.filter(({ verification_id }) => going.has(verification_id));
    await verifications.deleteMany({ _id: { $in: [...going] } }, { session });
    await evidence.deleteMany({ _id: { $in: theirs.map(({ _id }) => _id) } }, { session });
    const sha256s = theirs.map(({ sha256 }) => sha256);
    await removeBodies(session, { db, sha256s, now: now() });
    return { count: going.size, sha256s };
  }

  return async (list) => {
    const all = await withTheirs(list);
    const named = await readNames(all);
    const isFree = ({ _id }: VerificationDocument) => !named.has(_id);
    const leaving = list.filter((one) => isFree(one) && one.removal !== "due");
    const due = list.filter((one) => isFree(one) && one.removal === "due");
    if (named.size > 0) {
      await verifications.bulkWrite(
        [...named].map(([_id, expires_at]) => ({
          updateOne: { filter: { _id }, update: { $set: { expires_at, removal: "named" } } },
        })),
        { ordered: false },
      );
    }
    if (leaving.length > 0) {
      await removeAnswers(all, leaving);
      const expires_at = new Date(now().getTime() + LEAVING_MS);
      const ids = leaving.map(({ _id }) => _id);
      await verifications.updateMany({ _id: { $in: ids } }, { $set: { expires_at, removal: "due" } });
    }
    if (due.length === 0) return 0;
    const removed = await inTransaction(db.client, (session) => remove(session, { ...all, verifications: due }));
    // Another replica may have removed a body's other last record in the meantime, which the transaction could not see.
    await inTransaction(db.client, (session) => removeBodies(session, { db, ...removed, now: now() }));
    return removed.count;
  };
}
