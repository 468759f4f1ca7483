import { inBatches } from "@vvs/batching";
import { recordChanges } from "./change-log.ts";
import type { LoadTarget } from "./commit.ts";
import type { UeiSet } from "./files/uei-set.ts";

const BATCH_SIZE = 500;
/** The driver would take 16 MB at a time. */
const CURSOR_BATCH = 2_000;

/**
 * Marks the listed registry entities that a complete file lacks; returns how many. Their facts stay, but they
 * and the own entities that took them over are shown as inactive. After a kill, the next run marks the rest.
 */
export async function markGone(target: LoadTarget, ueis: UeiSet): Promise<number> {
  // Reads only the index, a million UEIs in a second, and then only the absent entities themselves.
  const known = target.collections.entities
    .find({ "identifiers.uei": { $gt: "" } })
    .hint({ "identifiers.uei": 1, organization_id: 1 })
    .project<{ identifiers: { uei: string }; organization_id: string | null }>({
      _id: 0,
      "identifiers.uei": 1,
      organization_id: 1,
    })
    .batchSize(CURSOR_BATCH);
  async function* absent() {
    for await (const { identifiers, organization_id } of known) {
      if (organization_id === null && !ueis.has(identifiers.uei)) yield identifiers.uei;
    }
  }
  let gone = 0;
  for await (const batch of inBatches(absent(), BATCH_SIZE)) gone += await mark(target, batch);
  return gone;
}

async function mark(target: LoadTarget, ueis: readonly string[]): Promise<number> {
  const { entities } = target.collections;
  const filter = { "identifiers.uei": { $in: [...ueis] }, organization_id: null, listed: true };
  const found = await entities.find(filter).project<{ _id: string }>({ _id: 1 }).toArray();
  if (found.length === 0) return 0;
  const gone = found.map(({ _id }) => _id);
  const listed = { _id: { $in: gone }, listed: true };
  return target.transact(async (session) => {
    const marked = await entities.updateMany(listed, { $set: { listed: false } }, { session });
    // A new revision, so that a call that read an own entity before does not list it again.
    const ownOfThese = { registry_entity_id: { $in: gone }, organization_id: { $gt: "" } };
    await entities.updateMany(ownOfThese, { $set: { listed: false }, $inc: { revision: 1 } }, { session });
    await recordChanges(target, session, { gone });
    return marked.modifiedCount;
  });
}
