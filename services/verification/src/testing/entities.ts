import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import type { Caller, Environment, Identifiers, Tenant } from "@vvs/proto/common/v1/common";
import {
  type CheckSubjectSchema,
  EntityService,
  type LookUpRequest,
  type LookUpResponseSchema,
  type RecordTinMatchRequest,
  type RegistryAnswerSchema,
  type UpdateFromProviderRequest,
} from "@vvs/proto/entity/v1/entity";
import { type Handlers, onlyFor, type RpcServer, serveRpc } from "@vvs/rpc";
import { silentLogger } from "@vvs/testing";

/** An entity of one organization in a test. */
export interface TestEntity {
  readonly subject: MessageInitShape<typeof CheckSubjectSchema>;
  readonly tin?: string;
}

type Files = MessageInitShape<typeof RegistryAnswerSchema>;
type FilesBy = (names: readonly string[], cage: string) => Files;

/** A simulated entity service. Tests set what it knows, and read what it received. */
export interface TestEntities {
  readonly server: RpcServer;
  /** Makes an entity visible to an organization. */
  put(organizationId: string, entityId: string, entity: TestEntity): void;
  /** Sets the loaded files' records of a UEI, or returns them for the names and the CAGE asked with; there are none where it is not set. */
  setRegistry(environment: Environment, uei: string, files: Files | FilesBy): void;
  /** Sets the entity that every vendor resolves to; it keeps the last TIN that a call both supplied and checks. */
  resolveTo(entityId: string): void;
  /** Callbacks between the steps of a call. */
  readonly schedule: {
    /** Runs after a vendor was resolved, before the answer. */
    resolved?: (tin: string) => Promise<void>;
    /** Runs before the TINs of a job are opened. */
    openTins?: () => Promise<void>;
    /** Runs before a TIN is revealed. */
    reveal?: () => Promise<void>;
    /** Runs before the match of a TIN is recorded. */
    match?: () => Promise<void>;
    /** Answers look-ups; nothing matches where absent. */
    lookUp?: (request: LookUpRequest) => MessageInitShape<typeof LookUpResponseSchema>;
    /** Returns the id of the entity that identifiers name, or throws; empty: the one of `setResolved`. */
    resolve?: (identifiers: Identifiers | undefined, entityId: string) => string;
    /** Returns whether a name agrees with the registry's; where absent, no registry knows a vendor. */
    nameAgrees?: (legalName: string) => boolean;
    /** Runs before registry records are returned; gets the number of vendors that they are for. */
    registry?: (vendors: number) => Promise<void>;
    /** Runs before facts are stored; the signal aborts when their sender no longer waits. */
    update?: (signal: AbortSignal) => Promise<void>;
  };
  readonly revealed: string[];
  /** The matches that were recorded. */
  readonly matches: RecordTinMatchRequest[];
  readonly updates: UpdateFromProviderRequest[];
}

/** Returns a hash that stands for a TIN, like the entity service's fingerprints. */
export const tinHashOf = (tin: string) => createHash("sha256").update(tin).digest();

const unused = async () => {
  throw new ServiceError("internal_error", { message: "the verification service does not call this" });
};

export async function startTestEntities(): Promise<TestEntities> {
  const known = new Map<string, TestEntity>();
  const files = new Map<string, FilesBy>();
  const revealed: string[] = [];
  const matches: RecordTinMatchRequest[] = [];
  const updates: UpdateFromProviderRequest[] = [];
  const schedule: TestEntities["schedule"] = {};
  let named = "";

  function find(caller: Caller | undefined, entityId: string): TestEntity {
    const entity = known.get(`${caller?.tenant?.organizationId} ${entityId}`);
    if (!entity) throw new ServiceError("entity_not_found");
    return entity;
  }

  function subjectOf(tenant: Tenant | undefined, entityId: string): TestEntity["subject"] {
    const entity = known.get(`${tenant?.organizationId} ${entityId}`);
    return entity ? { entityId, ...entity.subject } : {};
  }

  const handlers: Handlers<typeof EntityService> = {
    lookUp: async (request) => {
      if (!schedule.lookUp) throw new ServiceError("entity_not_found");
      return schedule.lookUp(request);
    },
    createEntity: unused,
    setExternalId: unused,
    getEntity: unused,
    listEntities: unused,
    listSnapshots: unused,
    resolveVendor: async ({ caller, identifiers, legalName, checksTin, entityId }) => {
      const { tin = "" } = identifiers ?? {};
      const resolved = schedule.resolve?.(identifiers, entityId) || entityId || named;
      const tinHash = tin ? tinHashOf(tin) : new Uint8Array();
      const key = `${caller?.tenant?.organizationId} ${resolved}`;
      const entity = known.get(key);
      if (tin && checksTin && entity) known.set(key, { subject: { ...entity.subject, tinHash }, tin });
      await schedule.resolved?.(tin);
      const nameAgrees = legalName === "" ? undefined : schedule.nameAgrees?.(legalName);
      return { entityId: resolved, tinHash, subject: subjectOf(caller?.tenant, resolved), nameAgrees };
    },
    getCheckSubjects: async ({ keys }) => ({
      subjects: keys.map(({ tenant, entityId }) => subjectOf(tenant, entityId)),
    }),
    revealTin: async ({ caller, entityId, tinHash }) => {
      await schedule.reveal?.();
      const { subject, tin } = find(caller, entityId);
      if (!tin || !subject.tinHash || !Buffer.from(tinHash).equals(subject.tinHash))
        throw new ServiceError("not_found");
      revealed.push(entityId);
      return { tin };
    },
    sealTins: async ({ jobId, tins }) => ({
      sealed: tins.map((tin) => ({ keyId: jobId, box: Buffer.from([...tin].toReversed().join("")) })),
    }),
    openTins: async ({ jobId, sealed }) => {
      await schedule.openTins?.();
      return {
        tins: sealed.map(({ keyId, box }) =>
          keyId === jobId ? [...Buffer.from(box).toString()].toReversed().join("") : "",
        ),
      };
    },
    recordTinMatch: async (request) => {
      await schedule.match?.();
      matches.push(request);
      return {};
    },
    listTinReplacements: unused,
    takeTinReplacements: unused,
    listWithdrawnLoads: async ({ environment }) => {
      await schedule.registry?.(0);
      const here = [...files].filter(([key]) => key.startsWith(`${environment} `));
      return { loads: here.flatMap(([, of]) => of([], "").withdrawnLoads ?? []) };
    },
    getRegistryRecords: async ({ environment, queries }) => {
      await schedule.registry?.(queries.length);
      return {
        records: queries.map(({ uei, names, cage }) => files.get(`${environment} ${uei}`)?.(names, cage) ?? {}),
      };
    },
    updateFromProvider: async (request, { signal }) => {
      await schedule.update?.(signal);
      updates.push(request);
      return { changed: true };
    },
  };
  const server = await serveRpc({
    service: EntityService,
    handlers,
    callers: onlyFor(EntityService, "verification"),
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger: silentLogger,
  });
  return {
    server,
    put: (organizationId, entityId, entity) => void known.set(`${organizationId} ${entityId}`, entity),
    setRegistry: (environment, uei, of) =>
      void files.set(`${environment} ${uei}`, typeof of === "function" ? of : () => of),
    resolveTo(entityId) {
      named = entityId;
    },
    schedule,
    revealed,
    matches,
    updates,
  };
}
