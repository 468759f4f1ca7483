import { createBatcher } from "@vvs/batching";
import type { Check } from "@vvs/checks";
import { notTheEffect } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";
import type { EntityService, CheckSubject as ProtoSubject } from "@vvs/proto/entity/v1/entity";
import type { VerifyRequest } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { type CallerContext, type Tenant, toProtoCaller, toProtoTenant } from "@vvs/tenant";
import type { CheckSubject } from "./check-inputs.ts";

/** Maximum number of entities per call. */
const MAX_TOGETHER = 32;
/** Maximum number of calls in flight; further requests wait and share the next call. One makes the largest batches. */
const CALLS_AT_ONCE = 1;

/** The subject of a verification. */
export interface ResolvedSubject {
  readonly subject: CheckSubject;
  /** The TIN in clear that the call supplied, and that the subject's hash stands for; empty where it supplied none. */
  readonly suppliedTin: string;
  /** The name that the call gave; empty where it gave none. */
  readonly givenName: string;
  /**
   * Whether the name of the call agrees with the registry's names of the vendor. Absent where the call has none, or no
   * registry knows the vendor.
   */
  readonly nameAgrees?: boolean;
}

/** Reads the subjects of checks from the entity service. */
export interface Subjects {
  /**
   * Returns the subject for an entity, also for a registry entity that one of the organization's own took over: monitors of it
   * go on. Errors: entity_not_found, service_unavailable.
   */
  read(tenant: Tenant, entityId: string): Promise<CheckSubject>;
  /**
   * Returns the subject of a call: an entity that the caller can see, or the one that a vendor's identifiers name, which is
   * created where there is none. Values that the call supplies take precedence over those of the entity. Its TIN replaces
   * no other one of the entity unless the checks include tin_match. Errors: the
   * entity service's, such as entity_not_found, entity_exists and ambiguous_match; invalid_request where the call has no
   * target.
   */
  resolve(caller: CallerContext, target: VerifyRequest["target"], checks: readonly Check[]): Promise<ResolvedSubject>;
}

/** Reads subjects in batches: verifications at the same moment share a call, in which each tenant sees only its own. */
export function createSubjects(
  entities: Pick<Client<typeof EntityService>, "getCheckSubjects" | "resolveVendor">,
  maxTogether = MAX_TOGETHER,
): Subjects {
  const ask = createBatcher<{ tenant: Tenant; entityId: string }, ProtoSubject>({
    async run(keys) {
      const requested = keys.map(({ tenant, entityId }) => ({ tenant: toProtoTenant(tenant), entityId }));
      return (await entities.getCheckSubjects({ keys: requested })).subjects;
    },
    maxSize: maxTogether,
    atOnce: CALLS_AT_ONCE,
  });

  const see = (tenant: Tenant, entityId: string) => outside(() => ask({ tenant, entityId }));
  const read = async (tenant: Tenant, entityId: string) => subjectFrom(await see(tenant, entityId), entityId);

  return {
    read,
    async resolve(caller, target, checks) {
      if (target.case === "entityId") {
        const seen = await see(caller.tenant, target.value);
        if (seen.entityId !== target.value) throw new ServiceError("entity_not_found");
        return { subject: subjectFrom(seen, target.value), suppliedTin: "", givenName: "" };
      }
      if (target.case !== "vendor") {
        throw new ServiceError("invalid_request", { message: "The call names neither an entity nor a vendor." });
      }
      const { identifiers, legalName, entityId } = target.value;
      const checksTin = checks.includes("tin_match");
      const vendor = { caller: toProtoCaller(caller), identifiers, legalName, entityId, checksTin, comparesName: true };
      const resolved = await entities.resolveVendor(vendor).catch(notTheEffect);
      const { entityId: id, subject: seen, tinHash, nameAgrees } = resolved;
      const known = subjectFrom(seen, id);
      const isOther = tinHash.length > 0 && !Buffer.from(tinHash).equals(known.tinHash);
      const subject = {
        ...known,
        legalName: legalName || known.legalName,
        uei: identifiers?.uei || known.uei,
        cage: identifiers?.cage || known.cage,
        ...(isOther && { tinHash, tinMatchRecorded: false }),
      };
      const suppliedTin = identifiers?.tin ?? "";
      return { subject, suppliedTin, givenName: legalName, ...(nameAgrees !== undefined && { nameAgrees }) };
    },
  };
}

/** Returns the subject under the id by which it was requested. Errors: entity_not_found where the tenant sees no such entity. */
function subjectFrom(seen: ProtoSubject | undefined, entityId: string): CheckSubject {
  if (!seen?.entityId) throw new ServiceError("entity_not_found");
  const { legalName, uei, cage, tinHash, tinMatchRecorded, entityType, createdByOrganization, externalId, tin } = seen;
  const known = { tinHash, tinMatchRecorded, entityType, createdByOrganization, externalId };
  const own = { entityName: legalName, entityTin: tin, entityTinHash: tinHash };
  return { entityId, legalName, uei, cage, ...known, ...own };
}
