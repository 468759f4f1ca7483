import { inBatches } from "@vvs/batching";
import type { EntityDocument } from "../model/documents.ts";
import { commitChanges, type LoadTarget } from "./commit.ts";
import type { UeiSet } from "./files/uei-set.ts";

const BATCH_SIZE = 500;
/** The driver would take 16 MB at a time. */
const CURSOR_BATCH = 2_000;

/**
 * Marks the listed registry entities that a complete file lacks; returns how many. Their facts stay, but they
 * and the own entities that took them over are shown as inactive, with a snapshot. After a kill, the next run marks the rest.
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
  const listed = { "identifiers.uei": { $in: [...ueis] }, organization_id: null, listed: true };
  if (!(await entities.findOne(listed, { projection: { _id: 1 } }))) return 0;
  return target.transact(async (session) => {
    const registry = await entities.find(listed, { session }).toArray();
    const gone = registry.map(({ _id }) => _id);
    const ownOfThese = { registry_entity_id: { $in: gone }, organization_id: { $gt: "" } };
    const own = await entities.find(ownOfThese, { session }).toArray();
    const unlisted = (previous: EntityDocument) => ({ previous, entity: { ...previous, listed: false } });
    const changes = [...registry.map((each) => ({ ...unlisted(each), isGone: true })), ...own.map(unlisted)];
    await commitChanges({ ...target, transact: (work) => work(session) }, changes);
    return gone.length;
  });
}
