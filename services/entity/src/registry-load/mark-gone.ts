import type { LoadTarget } from "./commit.ts";
import type { UeiSet } from "./uei-set.ts";

const BATCH_SIZE = 500;
/** The driver would take 16 MB of them at once. */
const CURSOR_BATCH = 2_000;

/**
 * Marks the listed registry entities that a complete file lacks; returns how many. They stay as they are: the registry
 * no longer vouches for them. Run again after a kill it marks the others.
 */
export async function markGone(target: LoadTarget, ueis: UeiSet): Promise<number> {
  let gone = 0;
  let batch: string[] = [];
  // The index alone answers: a million UEIs are read in a second, and only those of absent entities looked at.
  const known = target.collections.entities
    .find({ "identifiers.uei": { $gt: "" } })
    .hint({ "identifiers.uei": 1, organization_id: 1 })
    .project<{ identifiers: { uei: string }; organization_id: string | null }>({
      _id: 0,
      "identifiers.uei": 1,
      organization_id: 1,
    });
  for await (const { identifiers, organization_id } of known.batchSize(CURSOR_BATCH)) {
    if (organization_id !== null || ueis.has(identifiers.uei)) continue;
    batch.push(identifiers.uei);
    if (batch.length < BATCH_SIZE) continue;
    gone += await mark(target, batch);
    batch = [];
  }
  return gone + (batch.length > 0 ? await mark(target, batch) : 0);
}

async function mark({ transact, collections, loadId }: LoadTarget, ueis: readonly string[]): Promise<number> {
  const { entities, changes } = collections;
  const filter = { "identifiers.uei": { $in: [...ueis] }, organization_id: null, listed: true };
  const found = await entities.find(filter).project<{ _id: string }>({ _id: 1 }).toArray();
  if (found.length === 0) return 0;
  const gone = found.map(({ _id }) => _id);
  return transact(async (session) => {
    const marked = await entities.updateMany(
      { _id: { $in: gone }, listed: true },
      { $set: { listed: false } },
      { session },
    );
    if (loadId !== undefined) {
      await changes.insertOne({ load_id: loadId, added: [], changed: [], gone }, { session });
    }
    return marked.modifiedCount;
  });
}
