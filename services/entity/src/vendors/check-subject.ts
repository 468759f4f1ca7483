import type { MessageInitShape } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { maskTin } from "@vvs/identifiers";
import type { CheckSubjectSchema } from "@vvs/proto/entity/v1/entity";
import { type CallerContext, environments, type Tenant } from "@vvs/tenant";
import type { FoundEntity, RememberedDocument } from "../model/documents.ts";
import { isOwnUnregistered } from "../model/own-entity.ts";
import { externalIdIn } from "../store.ts";
import { findSubjectDocuments, type SubjectDocuments, type SubjectKey } from "../subject-documents.ts";
import type { TinHome } from "../tins/tins.ts";
import type { CreationOptions } from "./create.ts";
import { isMatchRecorded } from "./remembered-tins.ts";

/** What checks send to providers about an entity. */
type CheckSubject = MessageInitShape<typeof CheckSubjectSchema>;

export type CheckSubjects = ReturnType<typeof createCheckSubjects>;

/** Reads what checks need about entities: what they carry, and what each organization remembers. */
export function createCheckSubjects(options: Pick<CreationOptions, "collections" | "store" | "tins" | "now">) {
  const { tins, collections, now } = options;
  return {
    /** Returns the subject of an entity that was read before, with what the tenant supplied about it. */
    async subjectOf(
      tenant: Tenant,
      { entity, remembered }: { entity: FoundEntity; remembered: readonly RememberedDocument[] },
    ): Promise<CheckSubject> {
      const carriedTin =
        entity.tin_last4 === undefined ? undefined : await options.store.findCarriedTin(tenant, entity._id);
      return subjectOf({ entity, remembered, carriedTin });
    },
    /** Returns one subject per key, in their order; an empty one if the tenant can't see such an entity. */
    async subjects(keys: readonly SubjectKey[]): Promise<CheckSubject[]> {
      const subjects: CheckSubject[] = keys.map(() => ({}));
      await Promise.all(
        environments.map(async (environment) => {
          const here = [...keys.entries()].filter(([, { tenant }]) => tenant.environment === environment);
          if (here.length === 0) return;
          const found = await findSubjectDocuments(
            collections[environment],
            here.map(([, key]) => key),
          );
          for (const [index, [place]] of here.entries()) {
            const documents = found[index];
            if (documents) subjects[place] = subjectOf(documents);
          }
        }),
      );
      return subjects;
    },
    /**
     * Records the reveal, and returns the TIN with the fingerprint `tinHash` in clear. Errors: entity_not_found; not_found
     * if the entity has no TIN, or another one.
     */
    async revealTin(
      caller: CallerContext,
      { entityId, tinHash }: { entityId: string; tinHash: Uint8Array },
      service: string,
    ): Promise<string> {
      const { tenant, actor, requestId } = caller;
      const [documents] = await findSubjectDocuments(collections[tenant.environment], [{ tenant, entityId }]);
      if (!documents) throw new ServiceError("entity_not_found");
      const tin = tinOf(documents);
      if (!tin || !Buffer.from(tinHash).equals(tin.fingerprint.value())) {
        throw new ServiceError("not_found", { message: "The entity does not have the expected TIN." });
      }
      await collections[tenant.environment].tinReveals.insertOne({
        organization_id: tenant.organizationId,
        entity_id: documents.entity._id,
        actor,
        request_id: requestId,
        caller: service,
        at: now(),
      });
      return tins.open(tenant, tin.home, tin.sealed);
    },
  };
}

function subjectOf(documents: SubjectDocuments): CheckSubject {
  const { entity, remembered } = documents;
  const known = (type: "uei" | "cage") =>
    entity.identifiers[type] ?? remembered.find((one) => one.type === type)?.value ?? "";
  const tin = tinOf(documents);
  return {
    entityId: entity._id,
    legalName: entity.placeholder ? "" : entity.legal_name,
    uei: known("uei"),
    cage: known("cage") || (entity.sam?.cage ?? ""),
    tinHash: tin?.fingerprint.value(),
    tin: tin && maskTin(tin.last4),
    tinMatchRecorded: tin?.isMatchRecorded,
    entityType: entity.sam?.entity_type,
    createdByOrganization: isOwnUnregistered(entity),
    externalId: externalIdIn(entity, remembered)?.external_id,
  };
}

function tinOf({ entity, remembered, carriedTin }: SubjectDocuments) {
  const isCarried = entity.tin_last4 !== undefined;
  const tin = isCarried ? carriedTin : remembered.find(({ type }) => type === "tin");
  if (!tin?.fingerprint || !tin.sealed) return undefined;
  const { _id: id, fingerprint, sealed } = tin;
  const home: TinHome = { collection: isCarried ? "entity_identifiers" : "remembered_identifiers", id };
  const isRecorded = isCarried || isMatchRecorded(tin as RememberedDocument);
  const last4 = (isCarried ? entity.tin_last4 : (tin as RememberedDocument).last4) ?? "";
  return { fingerprint, last4, isMatchRecorded: isRecorded, sealed, home };
}
