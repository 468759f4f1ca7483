import { nameAgrees } from "../matching/names/name-agrees.ts";
import type { Collections, EntityDocument } from "../model/documents.ts";
import { isOwnUnregistered } from "../model/own-entity.ts";

/**
 * Returns whether a name that a call gave agrees with those under which a registry knows the entity; undefined where the call
 * gave none, or no registry knows the entity: a name that an organization supplied proves nothing. Reads nothing, except of an
 * organization's entity that took over the registry's: where its legal name does not agree, the registry's other names.
 */
export async function nameAgreement(
  { entities }: Pick<Collections, "entities">,
  entity: Pick<EntityDocument, "organization_id" | "registry_entity_id" | "legal_name" | "other_names" | "sam">,
  legalName: string,
): Promise<boolean | undefined> {
  if (legalName === "" || isOwnUnregistered(entity) || !entity.sam) return undefined;
  const { registry_entity_id: _id } = entity;
  if (_id === undefined) return nameAgrees(legalName, namesOf(entity));
  // Its other names are partly those that the organization supplied.
  if (nameAgrees(legalName, [entity.legal_name])) return true;
  const projection = { legal_name: 1, other_names: 1 } as const;
  const registry = await entities.findOne<RegisteredNames>({ _id, organization_id: null }, { projection });
  return registry !== null && nameAgrees(legalName, namesOf(registry));
}

type RegisteredNames = Pick<EntityDocument, "legal_name" | "other_names">;

const namesOf = ({ legal_name, other_names }: RegisteredNames) => [legal_name, ...other_names];
