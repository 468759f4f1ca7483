import { inTransaction } from "@vvs/mongo";
import type { ClientSession, Db } from "mongodb";
import { latestId } from "../checks/latest-answers.ts";
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
 * names them. The answers go first, so that no cached call can name them any more; an hour later, if nothing does, the rest.
 */
export function createRemoveAged(options: { db: Db; readNames: ReadNames; now: () => Date }): RemoveAged {
  const { db, readNames, now } = options;
  const { verifications, evidence, answers, latestAnswers } = collectionsOf(db);

  async function withTheirs(list: readonly VerificationDocument[]): Promise<PastTime> {
    const verification_id = { $in: list.map(({ _id }) => _id) };
    const ids = list.flatMap(({ results }) => results.map(({ evidence_id }) => evidence_id));
    const projection = { verification_id: 1, sha256: 1 };
    const own = await evidence.find({ _id: { $in: ids }, verification_id }, { projection }).toArray();
    const found = await answers.find({ _id: { $in: own.map(({ _id }) => _id) } }).toArray();
    return { verifications: list, evidence: own, answers: found };
  }

  /** Removes the answers, and where one is the newest to its question, the older ones too: none may become the newest. */
  async function removeAnswers(gone: PastTime["answers"]): Promise<void> {
    if (gone.length === 0) return;
    await latestAnswers.bulkWrite(
      gone.map((answer) => ({ deleteOne: { filter: { _id: latestId(answer), "answer._id": answer._id } } })),
      { ordered: false },
    );
    const known = await latestAnswers.find({ _id: { $in: gone.map(latestId) } }, { projection: { _id: 1 } }).toArray();
    const answered = new Set(known.map(({ _id }) => _id));
    await answers.bulkWrite(
      gone.map((answer) => {
        const { _id, organization_id, entity_id, check_type, inputs_fingerprint } = answer;
        const older = { organization_id, entity_id, check_type, inputs_fingerprint, _id: { $lte: _id } };
        return { deleteMany: { filter: answered.has(latestId(answer)) ? { _id } : older } };
      }),
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
    const leaving = list.filter((one) => isFree(one) && one.removal !== "due").map(({ _id }) => _id);
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
      const ids = new Set(leaving);
      const theirs = new Set(all.evidence.flatMap((one) => (ids.has(one.verification_id) ? one._id : [])));
      await removeAnswers(all.answers.filter(({ _id }) => theirs.has(_id)));
      const expires_at = new Date(now().getTime() + LEAVING_MS);
      await verifications.updateMany({ _id: { $in: leaving } }, { $set: { expires_at, removal: "due" } });
    }
    if (due.length === 0) return 0;
    const removed = await inTransaction(db.client, (session) => remove(session, { ...all, verifications: due }));
    // Another replica may have removed a body's other last record in the meantime, which the transaction could not see.
    await inTransaction(db.client, (session) => removeBodies(session, { db, ...removed, now: now() }));
    return removed.count;
  };
}
