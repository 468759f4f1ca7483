import type { ClientSession, Filter } from "mongodb";
import type { Collections, EntityDocument, PublicIdentifiers } from "../model/documents.ts";
import { StaleEntityError } from "../model/entity-writes.ts";

/**
 * Checks, in the transaction that gives identifiers to an own entity, that no load has brought a registry entity with them
 * since the caller looked. The guards of the identifiers must have been written before the transaction and again in it:
 * then a load that does not see the own entity is one that this check sees. Errors: StaleEntityError.
 */
export async function refuseLoadedMeanwhile(
  { entities }: Collections,
  session: ClientSession,
  organizationId: string,
  { uei, cage }: PublicIdentifiers,
): Promise<void> {
  const ways: Filter<EntityDocument>[] = [];
  if (uei) ways.push({ "identifiers.uei": uei, organization_id: null });
  const listed = { organization_id: null, listed: { $ne: false } };
  if (cage) ways.push({ "identifiers.cage": cage, ...listed }, { other_cages: cage, ...listed });
  if (ways.length === 0) return;
  const loaded = await entities.find({ $or: ways }, { session, projection: { "identifiers.uei": 1 } }).toArray();
  if (loaded.length === 0) return;
  // The organization sees its own entity instead of these.
  const own = await entities
    .find(
      {
        organization_id: organizationId,
        $or: [
          { registry_entity_id: { $in: loaded.map(({ _id }) => _id) } },
          { "identifiers.uei": { $in: loaded.flatMap(({ identifiers }) => identifiers.uei ?? []) } },
        ],
      },
      { session, projection: { registry_entity_id: 1, "identifiers.uei": 1 } },
    )
    .toArray();
  const isHidden = ({ _id, identifiers }: EntityDocument) =>
    own.some((one) => one.registry_entity_id === _id || one.identifiers.uei === identifiers.uei);
  if (!loaded.every(isHidden)) throw new StaleEntityError("a load brought an entity with these identifiers meanwhile");
}
