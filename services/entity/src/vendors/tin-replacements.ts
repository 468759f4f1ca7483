import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { maskTin } from "@vvs/identifiers";
import { findPage } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Environment, Tenant } from "@vvs/tenant";
import type { Collections, EntityDocument } from "../model/documents.ts";
import type { TinReplacementDocument } from "../model/tin-replacement.ts";

/** Maximum number of replacements returned for the audit log in one call. */
const MAX_TAKEN = 100;

/** Reads which remembered TINs were replaced. */
export function createTinReplacements({ collections }: { collections: Readonly<Record<Environment, Collections>> }) {
  return {
    /** Returns a page of those of an entity, newest first. */
    async list(
      { environment, organizationId }: Tenant,
      { _id, registry_entity_id }: Pick<EntityDocument, "_id" | "registry_entity_id">,
      page: PageRequest | undefined,
    ) {
      const entity_id = { $in: [_id, ...(registry_entity_id ? [registry_entity_id] : [])] };
      const filter = { organization_id: organizationId, entity_id };
      const { items, next } = await findPage(collections[environment].tinReplacements, filter, page);
      return { replacements: items.map(toProto), next };
    },
    /** Marks replacements as being in the audit log, and returns others that are not, of all organizations. */
    async take(environment: Environment, recorded: readonly string[]) {
      const { tinReplacements } = collections[environment];
      if (recorded.length > 0) {
        await tinReplacements.updateMany({ _id: { $in: [...recorded] } }, { $unset: { unrecorded: "" } });
      }
      const found = tinReplacements.find({ unrecorded: true }).sort({ _id: 1 }).limit(MAX_TAKEN);
      return { replacements: (await found.toArray()).map(toProto) };
    },
  };
}

function toProto({ _id, ...replacement }: TinReplacementDocument) {
  return {
    id: _id,
    at: timestampFromDate(replacement.created_at),
    previous: maskTin(replacement.previous_last4),
    current: maskTin(replacement.current_last4),
    matched: replacement.matched,
    actor: replacement.actor,
    requestId: replacement.request_id,
    entityId: replacement.entity_id,
    organizationId: replacement.organization_id,
  };
}
