import { randomBytes } from "node:crypto";
import type { SecretKey } from "@vvs/config";
import { connectMongo, environmentDatabases, translateMongoError } from "@vvs/mongo";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { VendorListService } from "@vvs/proto/entity/v1/vendors";
import { type Client, createClient, serveRpc } from "@vvs/rpc";
import { type Environment, toProtoCaller, toProtoEnvironment } from "@vvs/tenant";
import { atEnd, silentLogger as logger } from "@vvs/testing";
import type { MongoClient } from "mongodb";
import { callers } from "../api.ts";
import { createEntityApplication } from "../domain.ts";
import { migrate } from "../migrate.ts";
import { collectionsOf } from "../model/documents.ts";
import type { HostedIndex } from "../name-index/host.ts";

// For the tests of this service: runs the whole service on its own real databases, with gRPC clients.

export const secretKey = (id: string): SecretKey => ({ id, key: randomBytes(32) });

/** The key rings that seal and hash TINs, newest keys first. */
export interface TinRings {
  readonly tinKeys: readonly SecretKey[];
  readonly tinHashKeys: readonly SecretKey[];
}

/** Migrates new databases, and serves from them until the tests of the file are over. */
export async function startTestApplication(
  options: { uri?: string; sandboxEntityCap?: number; rings?: TinRings } = {},
) {
  const { uri = process.env.MONGODB_URI! } = options;
  const prefix = `test_${randomBytes(5).toString("hex")}_`;
  const stopping = new AbortController().signal;
  const client = await connectMongo({ uri, service: "entity-test", logger, stopping });
  await migrate({ client, prefix });
  const databases = environmentDatabases(client, prefix, "entity");
  atEnd(async () => {
    await Promise.all([databases.live.dropDatabase(), databases.sandbox.dropDatabase()]);
    await client.close();
  });
  const clock = { now: new Date() };
  const rings = options.rings ?? { tinKeys: [secretKey("t1")], tinHashKeys: [secretKey("h1")] };
  const serve = (by: TinRings & { index?: HostedIndex; client?: MongoClient }) =>
    serveApplication({
      client,
      databases,
      ...by,
      sandboxEntityCap: options.sandboxEntityCap ?? 10_000,
      now: () => new Date(clock.now),
    });
  const first = await serve(rings);
  return {
    client,
    prefix,
    databases,
    rings,
    live: collectionsOf(databases.live),
    sandbox: collectionsOf(databases.sandbox),
    /** The service's current time. */
    clock,
    gateway: first.gateway,
    verification: first.verification,
    /** The dashboard's client of entities. */
    entityDashboard: first.entityDashboard,
    /** Client of the lists of vendors. */
    dashboard: first.dashboard,
    /** The handlers of records by environment. */
    records: first.records,
    /** Starts another replica of the service on the same databases, with its own keys. */
    serve,
  };
}

/** Starts a replica of the service, with clients of its callers. */
async function serveApplication(options: Parameters<typeof createEntityApplication>[0]) {
  const { handlers, beside, records } = createEntityApplication(options);
  const server = await serveRpc({
    service: EntityService,
    handlers,
    callers,
    beside,
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger,
    translate: translateMongoError,
  });
  const clientOf = (caller: string) =>
    createClient(EntityService, { address: `127.0.0.1:${server.port}`, caller, tls: undefined });
  const [gateway, verification, entityDashboard] = ["gateway", "verification", "dashboard"].map(clientOf) as [
    Client<typeof EntityService>,
    Client<typeof EntityService>,
    Client<typeof EntityService>,
  ];
  const dashboard = createClient(VendorListService, {
    address: `127.0.0.1:${server.port}`,
    caller: "dashboard",
    tls: undefined,
  });
  return {
    gateway,
    verification,
    entityDashboard,
    dashboard,
    records,
    stop: atEnd(async () => {
      for (const one of [gateway, entityDashboard, verification, dashboard]) one.close();
      await server.close();
    }),
  };
}

export type TestApplication = Awaited<ReturnType<typeof startTestApplication>>;

/** Returns a caller of an organization, by default in live. */
export function callerFor(organizationId: string, environment: Environment = "live", createdEntities?: number) {
  return toProtoCaller({
    tenant: { organizationId, environment },
    actor: "key_1",
    requestId: "req_1",
    createdEntities,
  });
}

/** Returns what the loaded files of live say about a vendor. */
export async function registryRecordOf(
  client: Pick<Client<typeof EntityService>, "getRegistryRecords">,
  vendor: { uei?: string; cage?: string; names?: string[] },
) {
  const environment = toProtoEnvironment("live");
  const { records } = await client.getRegistryRecords({ environment, queries: [vendor] });
  return records[0]!;
}

/** Returns the facts of an entity that checks need; without an id if the caller's tenant can't see it. */
export async function subjectOf(
  client: Pick<Client<typeof EntityService>, "getCheckSubjects">,
  { tenant }: ReturnType<typeof callerFor>,
  entityId: string,
) {
  const { subjects } = await client.getCheckSubjects({ keys: [{ tenant, entityId }] });
  return subjects[0]!;
}

/** Returns the TIN of an entity in clear. Requests it as checks do: by the fingerprint that it has read before. */
export async function revealedTin(
  client: Pick<Client<typeof EntityService>, "getCheckSubjects" | "revealTin">,
  caller: ReturnType<typeof callerFor>,
  entityId: string,
) {
  const { tinHash } = await subjectOf(client, caller, entityId);
  return (await client.revealTin({ caller, entityId, tinHash })).tin;
}
