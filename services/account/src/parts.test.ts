import { randomBytes } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "@jest/globals";
import { hashApiKey } from "@vvs/api-keys";
import { type Admit, createAdmission } from "@vvs/fair-queue";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { UsageService } from "@vvs/proto/account/v1/usage";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { type Client, createClient, type RpcServer, type ServicePart, serveRpc } from "@vvs/rpc";
import { toProtoTenant } from "@vvs/tenant";
import { atEnd, silentLogger as logger, untilEnd } from "@vvs/testing";
import { keysServices, peopleServices } from "./api/api.ts";
import { createKeyFeed } from "./api-keys/key-feed.ts";
import { loadAccountConfig, servedParts } from "./config.ts";
import { createKeysDomain, createPeopleDomain, createSharedDomain } from "./domain.ts";
import { createAccountMetrics } from "./metrics.ts";
import { callerOfOrganization, testAccount, until } from "./testing/account.ts";
import { createHashQueue } from "./users/passwords.ts";

/** As many as the queue of hashes takes of strangers. */
const MAX_WAITING = 250;
const REFUSED = 5;
const LONG_MS = 30_000;
/** The status of gRPC for a method that a server does not have. */
const UNIMPLEMENTED = 12;

const account = await testAccount();

/** Returns the services of both parts, as main.ts builds them. */
function parts(hashQueue?: Admit) {
  const shared = createSharedDomain({ ...account, now: () => account.clock.now });
  const keys = createKeysDomain(shared, account.apiKeyPeppers);
  const keyFeed = createKeyFeed({ store: keys.store, records: keys.keyRecords, logger, onWatchers: () => undefined });
  untilEnd(keyFeed);
  const people = createPeopleDomain(shared, { signUpOpen: true, ...(hashQueue && { hashQueue }) });
  return {
    keys: keysServices({ domain: keys, keyFeed }),
    people: peopleServices({
      domain: people,
      mailing: { isConfigured: false, mailbox: undefined },
      signUpOpen: true,
      metrics: createAccountMetrics(),
      logger,
    }),
  };
}

async function serve([first, ...beside]: readonly ServicePart[]): Promise<RpcServer> {
  const server = await serveRpc({
    ...first!,
    beside,
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger,
    admit: createAdmission({ seats: 4 }),
  });
  atEnd(() => server.close(100));
  return server;
}

function clientOf<S extends DescService>({ port }: RpcServer, service: S, caller: string): Client<S> {
  return untilEnd(createClient(service, { address: `127.0.0.1:${port}`, caller, tls: undefined }));
}

describe("the configuration names the part", () => {
  const ring = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
  const required = { MONGODB_URI: "mongodb://localhost", API_KEY_PEPPERS: ring("p1"), WEBHOOK_SECRET_KEYS: ring("w1") };
  const { env } = process;
  afterEach(() => {
    process.env = env;
  });

  test.each([
    [{}, ["keys", "people"]],
    [{ ACCOUNT_PART: "both" }, ["keys", "people"]],
    [{ ACCOUNT_PART: "keys" }, ["keys"]],
    [{ ACCOUNT_PART: "people" }, ["people"]],
  ])("%j serves %j", (variables, served) => {
    process.env = { ...required, ...variables };
    expect([...servedParts(loadAccountConfig())].toSorted()).toEqual(served);
  });

  test("only a process with keys needs their peppers", () => {
    const { API_KEY_PEPPERS: _, ...others } = required;
    process.env = { ...others, ACCOUNT_PART: "people" };
    expect(loadAccountConfig().API_KEY_PEPPERS).toBeUndefined();
    process.env = { ...others, ACCOUNT_PART: "keys" };
    expect(() => loadAccountConfig()).toThrow("API_KEY_PEPPERS: is required");
  });

  test("another value is refused", () => {
    process.env = { ...required, ACCOUNT_PART: "secrets" };
    expect(() => loadAccountConfig()).toThrow("ACCOUNT_PART");
  });
});

describe("the parts", () => {
  test("share out all gRPC services of the contract", () => {
    const folder = join(import.meta.dirname, "../../../proto/vvs/account/v1");
    const contract = globSync("*.proto", { cwd: folder }).flatMap((file) =>
      [...readFileSync(join(folder, file), "utf8").matchAll(/^service (\w+)/gm)].map(([, name]) => name),
    );
    const { keys, people } = parts();
    const names = [...keys, ...people].map(({ service }) => service.name);
    expect(names.toSorted()).toEqual(contract.toSorted());
  });

  test("are apart by their callers: nobody but the dashboard needs people", () => {
    const callers = parts().people.flatMap(({ callers }) => Object.entries(callers as Record<string, string[]>));
    const others = callers.filter(([, names]) => names.some((name) => name !== "dashboard"));
    expect(others).toEqual([]);
  });

  test.each([
    ["keys", "people"],
    ["people", "keys"],
  ] as const)("a process with %s answers UNIMPLEMENTED to all calls of %s", async (served, other) => {
    const both = parts();
    const server = await serve(both[served]);
    for (const { service } of both[other]) {
      const client = clientOf(server, service, "dashboard") as Record<string, (request: object) => Promise<unknown>>;
      const unary = service.methods.filter(({ methodKind }) => methodKind === "unary");
      for (const { localName } of unary) {
        const error = await client[localName]!({}).catch((thrown: unknown) => thrown);
        expect([service.name, localName, error]).toMatchObject([
          service.name,
          localName,
          { cause: { code: UNIMPLEMENTED } },
        ]);
      }
    }
  });
});

/** Serves both parts while as many sign-ins as may wait do so, and further ones are refused. */
async function flooded(): Promise<RpcServer> {
  const hashQueue = createHashQueue();
  const owner = { class: "person", organizationId: "", environment: "" } as const;
  for (let seat = 0; seat < 2; seat++) {
    void hashQueue({ owner, kind: "password" }, () => Promise.withResolvers<never>().promise);
  }
  const both = parts(hashQueue);
  const server = await serve([...both.keys, ...both.people]);
  const sessions = clientOf(server, SessionService, "dashboard");
  const outcomes: string[] = [];
  for (let network = 0; network < MAX_WAITING + REFUSED; network++) {
    const wrong = { email: `${network}@flood.example`, password: "a wrong password" };
    const place = { clientAddress: `198.18.${network % 256}.1` };
    sessions.signIn({ ...wrong, ...place }, { timeoutMs: LONG_MS }).catch(({ code }) => outcomes.push(code));
  }
  await until(() => outcomes.length >= REFUSED);
  expect(new Set(outcomes)).toEqual(new Set(["rate_limited"]));
  return server;
}

test("in one process, keys, secrets and usage are served while the queue of sign-ins is full", async () => {
  const { _id: organizationId } = await account.organization();
  const tenant = { organizationId, environment: "live" } as const;
  const { key, value } = await account.domain.apiKeys.create(callerOfOrganization(organizationId, "live"), {
    name: "a",
  });
  const hashes = hashApiKey(account.apiKeyPeppers, value).map(({ hash }) => hash);
  const server = await flooded();
  const keys = clientOf(server, ApiKeyService, "gateway");
  expect((await keys.getApiKey({ hashes })).key).toMatchObject({ id: key._id });
  const watch = keys.watchApiKeys({})[Symbol.asyncIterator]();
  await until(async () => (await watch.next()).value?.step.case === "heartbeat");
  await watch.return?.();
  await clientOf(server, UsageService, "gateway").reportUsage({ reportId: "report_while_flooded" });
  const secrets = clientOf(server, WebhookSecretService, "webhook-dispatcher");
  expect((await secrets.getSigningSecrets({ tenant: toProtoTenant(tenant) })).secrets).toHaveLength(1);
  await clientOf(server, OrganizationStatusService, "monitor").listSuspended({});
});
