import { randomBytes } from "node:crypto";
import type { SecretKey } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { connectMongo } from "@vvs/mongo";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { operator } from "./audit.ts";
import { migrate } from "./migrate.ts";
import { type AccountDomain, createAccountDomain } from "./provision.ts";
import type { OrganizationDocument } from "./store.ts";

/** The account domain on a database of a test's own, with a clock that the test sets. */
export interface TestAccount {
  readonly client: MongoClient;
  readonly prefix: string;
  readonly domain: AccountDomain;
  readonly apiKeyPeppers: readonly SecretKey[];
  readonly webhookSecretKeys: readonly SecretKey[];
  readonly dashboardUrl: URL;
  /** The time that the domain sees. */
  readonly clock: { now: Date };
  advance(milliseconds: number): void;
  organization(plan?: string): Promise<OrganizationDocument>;
  /** Drops the database. */
  close(): Promise<void>;
}

export const logger = createLogger({ service: "account", level: "silent" });

export function testKey(id: string): SecretKey {
  return { id, key: randomBytes(32) };
}

export async function createTestAccount(uri: string): Promise<TestAccount> {
  const client = await connectMongo({ uri, service: "test", logger, stopping: AbortSignal.abort() });
  const prefix = `t${randomBytes(6).toString("hex")}_`;
  await migrate({ client, prefix });
  const clock = { now: new Date("2026-03-01T12:00:00.000Z") };
  const apiKeyPeppers = [testKey("p1")];
  const webhookSecretKeys = [testKey("w1")];
  const dashboardUrl = new URL("https://dashboard.example");
  const domain = createAccountDomain({
    client,
    prefix,
    apiKeyPeppers,
    webhookSecretKeys,
    dashboardUrl,
    now: () => clock.now,
  });
  return {
    client,
    prefix,
    domain,
    apiKeyPeppers,
    webhookSecretKeys,
    dashboardUrl,
    clock,
    advance(milliseconds) {
      clock.now = new Date(clock.now.getTime() + milliseconds);
    },
    organization: (plan = "growth") => domain.createOrganization(operator, { name: "Acme", plan }),
    async close() {
      await domain.store.db.dropDatabase();
      await client.close();
    },
  };
}

export function callerOfOrganization(organizationId: string, environment: Environment): CallerContext {
  return { tenant: { organizationId, environment }, actor: "usr_test", requestId: "req_test" };
}

/** Waits until something holds; the test's own timeout ends it otherwise. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}
