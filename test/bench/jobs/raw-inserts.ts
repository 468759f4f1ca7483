import type { Db, Document } from "mongodb";

const BATCH_SIZE = 1_000;

/**
 * Inserts what a job stored into another database with the same indexes, using only `insertMany`. Outbox rows, which are gone by
 * then, are made up of the verifications. Returns the seconds that those calls took, without the time to read the documents.
 */
export async function insertRaw(
  from: Db,
  to: Db,
  { organizationId, jobId }: { organizationId: string; jobId: string },
): Promise<{ documents: number; seconds: number }> {
  const own = { organization_id: organizationId };
  const read = (name: string, filter: Document) => from.collection(name).find(filter).toArray();
  const [rows, verifications, evidence, answers] = await Promise.all([
    read("job_rows", { ...own, job_id: jobId }),
    read("verifications", own),
    read("evidence", own),
    read("latest_answers", own),
  ]);
  const bodies = await read("evidence_bodies", { _id: { $in: evidence!.map(({ sha256 }) => sha256) } });
  const outbox = verifications!.map(({ _id, ...value }) => ({ topic: "raw", key: _id, body: JSON.stringify(value) }));
  let [documents, seconds] = [0, 0];
  for (const [name, all] of Object.entries({
    job_rows: rows,
    verifications,
    evidence,
    latest_answers: answers,
    outbox,
  })) {
    await insert(name, all!);
  }
  // Jobs about the same vendors share the bodies.
  await to.collection("evidence_bodies").deleteMany({});
  await insert("evidence_bodies", bodies);
  return { documents, seconds };

  async function insert(name: string, all: readonly Document[]): Promise<void> {
    for (let at = 0; at < all.length; at += BATCH_SIZE) {
      const batch = all.slice(at, at + BATCH_SIZE);
      const startedAt = performance.now();
      await to.collection(name).insertMany(batch, { ordered: false });
      seconds += (performance.now() - startedAt) / 1_000;
      documents += batch.length;
    }
  }
}
