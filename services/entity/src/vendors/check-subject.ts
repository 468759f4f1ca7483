import { ServiceError } from "@vvs/errors";
import { type CallerContext, type Environment, environments, type Tenant } from "@vvs/tenant";
import type { Binary } from "mongodb";
import type { Collections, TinDocument } from "../model/documents.ts";
import { isOwnUnregistered } from "../model/own-entity.ts";
import { storedFingerprint, type TinHome, type TinVault } from "../tins/tins.ts";
import { findSubjectDocuments, type SubjectDocuments } from "./subject-documents.ts";

/** What providers are asked with. */
export interface CheckSubject {
  readonly entityId: string;
  /** "" while the entity has only a placeholder. */
  readonly legalName: string;
  readonly uei: string;
  readonly cage: string;
  /** Stands for the TIN, whatever keys seal and hash it today. */
  readonly tinHash: Uint8Array;
  readonly createdByOrganization: boolean;
}

/** What providers are asked with, of an entity that the tenant does not see. */
const UNSEEN: CheckSubject = {
  entityId: "",
  legalName: "",
  uei: "",
  cage: "",
  tinHash: new Uint8Array(),
  createdByOrganization: false,
};

/** What checks need of entities: what they carry, and what each organization remembers of them. */
export function createCheckSubjects(options: {
  collections: Readonly<Record<Environment, Collections>>;
  tins: TinVault;
  now: () => Date;
}) {
  const { tins, collections, now } = options;
  return {
    /** One for each key, in their order; without an id where the tenant sees no such entity. */
    async subjects(keys: readonly { tenant: Tenant; entityId: string }[]): Promise<CheckSubject[]> {
      const subjects = keys.map(() => UNSEEN);
      await Promise.all(
        environments.map(async (environment) => {
          const here = [...keys.entries()].filter(([, { tenant }]) => tenant.environment === environment);
          if (here.length === 0) return;
          const asked = here.map(([, { tenant, entityId }]) => ({ organizationId: tenant.organizationId, entityId }));
          const found = await findSubjectDocuments(collections[environment], asked);
          for (const [index, [place]] of here.entries()) {
            const documents = found[index];
            if (documents) subjects[place] = subjectOf(documents);
          }
        }),
      );
      return subjects;
    },
    /**
     * The TIN in clear that `tinHash` stands for; the reveal is recorded first. Errors: entity_not_found; not_found where
     * no TIN is known of the entity, or another one.
     */
    async revealTin(
      caller: CallerContext,
      { entityId, tinHash }: Pick<CheckSubject, "entityId" | "tinHash">,
      service: string,
    ): Promise<string> {
      const { tenant, actor, requestId } = caller;
      const asked = { organizationId: tenant.organizationId, entityId };
      const [documents] = await findSubjectDocuments(collections[tenant.environment], [asked]);
      if (!documents) throw new ServiceError("entity_not_found");
      const tin = tinOf(documents);
      if (!tin || !Buffer.from(tinHash).equals(tin.fingerprint.value())) {
        throw new ServiceError("not_found", { message: "The TIN that is expected is not known of this entity." });
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
    tinHash: tin ? tin.fingerprint.value() : new Uint8Array(),
    createdByOrganization: isOwnUnregistered(entity),
  };
}

function tinOf({
  entity,
  remembered,
  carriedTin,
}: SubjectDocuments): { fingerprint: Binary; sealed: TinDocument["sealed"]; home: TinHome } | undefined {
  if (entity.tin_last4 !== undefined) {
    if (!carriedTin) return undefined;
    const home = { collection: "entity_identifiers", id: carriedTin._id } as const;
    return { fingerprint: storedFingerprint(carriedTin), sealed: carriedTin.sealed, home };
  }
  const kept = remembered.find(({ type }) => type === "tin");
  if (!kept?.hash || !kept.sealed) return undefined;
  const { fingerprint, hash, sealed } = kept;
  const home = { collection: "remembered_identifiers", id: kept._id } as const;
  return { fingerprint: storedFingerprint({ fingerprint, hash }), sealed, home };
}
