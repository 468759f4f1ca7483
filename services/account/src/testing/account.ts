import { randomBytes } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { SecretKey } from "@vvs/config";
import { connectMongo } from "@vvs/mongo";
import { ListAuditEntriesRequestSchema } from "@vvs/proto/account/v1/audit_log";
import type { CallerContext, Environment } from "@vvs/tenant";
import { atEnd, databasePool, silentLogger as logger } from "@vvs/testing";
import type { MongoClient } from "mongodb";
import { createAuditLog, operator } from "../audit/audit.ts";
import { createFailedSignIns } from "../audit/failed-sign-ins.ts";
import { type AccountDomain, createAccountDomain } from "../domain.ts";
import { mailOf } from "../mail/queue.ts";
import { createMailTexts } from "../mail/texts.ts";
import { migrate } from "../migrate.ts";
import type { Mail } from "../model/mail.ts";
import { createAttemptLimits } from "../sessions/attempt-limits.ts";
import { createKnownDevices } from "../sessions/known-devices.ts";
import { createLiveSessions, type LiveSessions } from "../sessions/live-sessions.ts";
import type { OrganizationDocument } from "../store.ts";
import { createPasswords } from "../users/passwords.ts";

/** The account domain on a database of its own, with a clock that the test sets. */
export interface TestAccount {
  readonly client: MongoClient;
  readonly prefix: string;
  readonly domain: AccountDomain;
  readonly apiKeyPeppers: readonly SecretKey[];
  readonly webhookSecretKeys: readonly SecretKey[];
  readonly dashboardUrl: URL;
  readonly signUpOpen: boolean;
  /** The time that the domain sees. */
  readonly clock: { now: Date };
  advance(milliseconds: number): void;
  /** Returns the queued emails to an address, oldest first. */
  mailsTo(email: string): Promise<Mail[]>;
  organization(plan?: string): Promise<OrganizationDocument>;
  /** Empties the database, for another test. */
  close(): Promise<void>;
}

const databases = databasePool();

export function testKey(id: string): SecretKey {
  return { id, key: randomBytes(32) };
}

/** Returns an account that exists until the tests of the file are over. */
export async function testAccount(): Promise<TestAccount> {
  const uri = process.env.MONGODB_URI!;
  const client = await connectMongo({ uri, service: "test", logger, stopping: AbortSignal.abort() });
  const prefix = databases.take();
  const close = atEnd(async () => {
    await databases.giveBack(prefix);
    await client.close();
  });
  await migrate({ client, prefix });
  // Far in the future: MongoDB deletes expired documents by its own clock.
  const clock = { now: new Date("2126-03-01T12:00:00.000Z") };
  const apiKeyPeppers = [testKey("p1")];
  const webhookSecretKeys = [testKey("w1")];
  const dashboardUrl = new URL("https://dashboard.example");
  const options = { client, prefix, apiKeyPeppers, webhookSecretKeys, dashboardUrl, signUpOpen: true };
  const domain = createAccountDomain({ ...options, now: () => clock.now });
  return {
    ...options,
    close,
    domain,
    clock,
    advance(milliseconds) {
      clock.now = new Date(clock.now.getTime() + milliseconds);
    },
    async mailsTo(email) {
      const waiting = await domain.store.mails.find().sort({ _id: 1 }).toArray();
      return waiting.map((mail) => mailOf(webhookSecretKeys, mail)).filter(({ to }) => to === email);
    },
    organization: (plan = "growth") => domain.organizations.create(operator, { name: "Acme", plan }),
  };
}

/** Returns what parts of the domain share, for tests that build one of them with another part replaced. */
export function sharedParts({ client, domain, webhookSecretKeys: keys, dashboardUrl, clock }: TestAccount) {
  const { store } = domain;
  const now = () => clock.now;
  const { signIns: limits, mails: mailLimits } = createAttemptLimits({ store, now });
  return {
    client,
    store,
    now,
    audit: createAuditLog({ store, now }),
    liveSessions: createLiveSessions({ store, now }),
    limits,
    signInLimits: limits,
    mailLimits,
    failedSignIns: createFailedSignIns({ store, now }),
    devices: createKnownDevices({ keys, now }),
    keys,
    passwords: createPasswords(),
    mailQueue: domain.mailQueue,
    texts: createMailTexts({ dashboardUrl }),
  };
}

/** Returns live sessions; after one is found, something happens before the caller continues. */
export function onceFound(account: TestAccount, happens: (token: string) => Promise<unknown>): LiveSessions {
  const { liveSessions } = sharedParts(account);
  return {
    ...liveSessions,
    async find(token) {
      const found = await liveSessions.find(token);
      await happens(token);
      return found;
    },
  };
}

export function callerOfOrganization(organizationId: string, environment: Environment): CallerContext {
  return { tenant: { organizationId, environment }, actor: "test", requestId: "req_test" };
}

/** Returns a request for a page of the audit log. */
export function auditQuery(query: MessageInitShape<typeof ListAuditEntriesRequestSchema>) {
  return create(ListAuditEntriesRequestSchema, query);
}

export { eventually as until } from "@vvs/testing";

/** Returns the token of the link in an email. */
export function tokenIn(mail: Mail | undefined): string {
  return /[?&]token=([\w-]+)/.exec(mail!.text)![1]!;
}
