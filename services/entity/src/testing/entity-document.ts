import type { EntityDocument } from "../model/documents.ts";

/** Returns a listed registry entity without facts, but for the given fields. */
export function entityDocument(fields: Partial<EntityDocument>): EntityDocument {
  return {
    ...{ _id: "ent_1", organization_id: null, legal_name: "ACME LLC", placeholder: false, other_names: [] },
    ...{ name_keys: [], candidate_keys: [], address_keys: [], match_version: 0, identifiers: {} },
    ...{
      exclusions: [],
      addresses: [],
      sources: [],
      listed: true,
      version: 1,
      last_hash: "",
      created_at: new Date(0),
      changed_at: new Date(0),
    },
    ...fields,
  };
}
