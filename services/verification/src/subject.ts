import { createBatcher } from "@vvs/batching";
import { ServiceError } from "@vvs/errors";
import type { EntityService, CheckSubject as ProtoSubject } from "@vvs/proto/entity/v1/entity";
import type { VerifyRequest } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { type CallerContext, type Tenant, toProtoCaller, toProtoTenant } from "@vvs/tenant";
import type { CheckSubject } from "./checks.ts";

/** Entities asked about in one call. */
const MAX_TOGETHER = 32;
/** While so many calls are under way, what comes waits and shares the next one. */
const CALLS_AT_ONCE = 2;

/** What checks need, asked of the entity service. */
export interface Subjects {
  /** Errors: entity_not_found, service_unavailable. */
  read(tenant: Tenant, entityId: string): Promise<CheckSubject>;
  /**
   * What a verification is about: an entity the caller knows, or the one that a vendor's identifiers name, which is
   * created where there is none. A vendor's legal name goes before the entity's. Errors: the entity service's, such as
   * entity_not_found, entity_exists and ambiguous_match; invalid_request where there is no target.
   */
  resolve(caller: CallerContext, target: VerifyRequest["target"]): Promise<CheckSubject>;
}

/** Verifications that are made at the same moment share a call: what each organization sees stays its own. */
export function createSubjects(
  entities: Pick<Client<typeof EntityService>, "getCheckSubjects" | "resolveVendor">,
): Subjects {
  const ask = createBatcher<{ tenant: Tenant; entityId: string }, ProtoSubject>({
    async run(keys) {
      const asked = keys.map(({ tenant, entityId }) => ({ tenant: toProtoTenant(tenant), entityId }));
      return (await entities.getCheckSubjects({ keys: asked })).subjects;
    },
    maxSize: MAX_TOGETHER,
    atOnce: CALLS_AT_ONCE,
  });

  async function read(tenant: Tenant, entityId: string): Promise<CheckSubject> {
    const { entityId: seen, legalName, uei, cage, tinHash, createdByOrganization } = await ask({ tenant, entityId });
    if (!seen) throw new ServiceError("entity_not_found");
    return { entityId, legalName, uei, cage, tinHash, createdByOrganization };
  }

  return {
    read,
    async resolve(caller, target) {
      if (target.case === "entityId") return read(caller.tenant, target.value);
      if (target.case !== "vendor") {
        throw new ServiceError("invalid_request", { message: "The call names neither an entity nor a vendor." });
      }
      const { identifiers, legalName } = target.value;
      const { entityId } = await entities.resolveVendor({ caller: toProtoCaller(caller), identifiers, legalName });
      const subject = await read(caller.tenant, entityId);
      return legalName ? { ...subject, legalName } : subject;
    },
  };
}
