import type { MessageInitShape } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { createLogger } from "@vvs/logging";
import type { Caller, Environment } from "@vvs/proto/common/v1/common";
import {
  type CheckSubjectSchema,
  EntityService,
  type GetRegistryRecordResponseSchema,
  type UpdateFromProviderRequest,
} from "@vvs/proto/entity/v1/entity";
import { type Callers, type Handlers, type RpcServer, serveRpc } from "@vvs/rpc";

/** An entity of one organization, as tests make it up. */
export interface TestEntity {
  readonly subject: MessageInitShape<typeof CheckSubjectSchema>;
  readonly tin?: string;
}

/** Plays the entity service: what it knows is set by tests, and what it was told is kept for them. */
export interface TestEntities {
  readonly server: RpcServer;
  /** By organization and entity id; without it the entity is not visible. */
  put(organizationId: string, entityId: string, entity: TestEntity): void;
  /** What the loaded files say of a UEI; nothing where it is not set. */
  setRegistry(
    environment: Environment,
    uei: string,
    files: MessageInitShape<typeof GetRegistryRecordResponseSchema>,
  ): void;
  /** The entity that every vendor resolves to. */
  resolveTo(entityId: string): void;
  readonly revealed: string[];
  readonly updates: UpdateFromProviderRequest[];
}

const unused = async () => {
  throw new ServiceError("internal_error", { message: "the verification service does not call this" });
};

export async function startTestEntities(): Promise<TestEntities> {
  const known = new Map<string, TestEntity>();
  const files = new Map<string, MessageInitShape<typeof GetRegistryRecordResponseSchema>>();
  const revealed: string[] = [];
  const updates: UpdateFromProviderRequest[] = [];
  let resolved = "";

  function find(caller: Caller | undefined, entityId: string): TestEntity {
    const entity = known.get(`${caller?.tenant?.organizationId} ${entityId}`);
    if (!entity) throw new ServiceError("entity_not_found");
    return entity;
  }

  const handlers: Handlers<typeof EntityService> = {
    lookUp: unused,
    createEntity: unused,
    getEntity: unused,
    listEntities: unused,
    listSnapshots: unused,
    resolveVendor: async () => ({ entityId: resolved }),
    getCheckSubjects: async ({ keys }) => ({
      subjects: keys.map(({ tenant, entityId }) => {
        const entity = known.get(`${tenant?.organizationId} ${entityId}`);
        return entity ? { entityId, ...entity.subject } : {};
      }),
    }),
    revealTin: async ({ caller, entityId }) => {
      revealed.push(entityId);
      return { tin: find(caller, entityId).tin };
    },
    getRegistryRecord: async ({ environment, uei }) => files.get(`${environment} ${uei}`) ?? {},
    updateFromProvider: async (request) => {
      updates.push(request);
      return { changed: true };
    },
  };
  const callers = Object.fromEntries(Object.keys(handlers).map((name) => [name, ["verification"]]));
  const server = await serveRpc({
    service: EntityService,
    handlers,
    callers: callers as unknown as Callers<typeof EntityService>,
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger: createLogger({ service: "entity", level: "silent" }),
  });
  return {
    server,
    put: (organizationId, entityId, entity) => void known.set(`${organizationId} ${entityId}`, entity),
    setRegistry: (environment, uei, response) => void files.set(`${environment} ${uei}`, response),
    resolveTo(entityId) {
      resolved = entityId;
    },
    revealed,
    updates,
  };
}
