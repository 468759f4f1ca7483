import { createCollections, createExpiry } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import { AUDIT_KEPT_DAYS } from "./audit-log/audit-entries.ts";
import { REQUESTS_KEPT_DAYS } from "./model/logged-requests.ts";
import { accountStore } from "./store.ts";

const DAY_SECONDS = 24 * 60 * 60;
const USAGE_KEPT_SECONDS = 400 * DAY_SECONDS;
const REQUESTS_KEPT_SECONDS = REQUESTS_KEPT_DAYS * DAY_SECONDS;
/** Longer than a gateway retries a report. */
const REPORTS_KEPT_SECONDS = 2 * DAY_SECONDS;
const MAILBOX_KEPT_SECONDS = 30 * DAY_SECONDS;
/** Longer than a service reports a notification again, which it does until account has it. */
const GATHERED_KEPT_SECONDS = 30 * DAY_SECONDS;
/** Expired invitations can still be sent again. */
const INVITATIONS_SHOWN_SECONDS = 30 * DAY_SECONDS;

/** The request log is read newest first, all of it or by one of these. */
const indexesOfRequests = [{}, { outcome: 1 }, { api_key_id: 1 }, { operation: 1 }, { request_id: 1 }] as const;

/** Creates the account database's collections and indexes. Repeatable. Only a migration step calls it, never the service. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const store = accountStore(options.client, options.prefix);
  const { db, ...collections } = store;
  const names = Object.values(collections).map(({ collectionName }) => collectionName);
  await createCollections(db, names);
  const { secondSteps, signUps, passwordResets, singleSignOns, passkeyChallenges } = store;
  const oneTimeTokens = [secondSteps, signUps, passwordResets, singleSignOns, passkeyChallenges];
  await Promise.all([
    store.organizations.createIndex({ created_at: -1, _id: -1 }),
    store.organizations.createIndex({ status: 1 }, { partialFilterExpression: { status: "suspended" } }),
    store.users.createIndex({ email: 1 }, { unique: true }),
    store.users.createIndex({ organization_id: 1 }),
    store.users.createIndex(
      { "identity.issuer": 1, "identity.subject": 1 },
      { unique: true, partialFilterExpression: { identity: { $exists: true } } },
    ),
    store.sessions.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 }),
    store.sessions.createIndex({ user_id: 1 }),
    store.sessions.createIndex({ organization_id: 1 }),
    store.passkeys.createIndex({ credential_id: 1 }, { unique: true }),
    store.passkeys.createIndex({ user_id: 1, created_at: -1, _id: -1 }),
    store.apiKeys.createIndex({ hash: 1 }, { unique: true }),
    store.apiKeys.createIndex({ organization_id: 1, environment: 1, created_at: -1, _id: -1 }),
    store.apiKeys.createIndex(
      { organization_id: 1, environment: 1, submission: 1 },
      { unique: true, partialFilterExpression: { submission: { $exists: true } } },
    ),
    store.webhookSecrets.createIndex({ organization_id: 1, environment: 1 }, { unique: true }),
    store.signUps.createIndex({ email: 1, created_at: -1 }),
    store.passwordResets.createIndex({ user_id: 1 }),
    ...oneTimeTokens.map((tokens) => tokens.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 })),
    store.signInLimits.createIndex({ window_ends_at: 1 }, { expireAfterSeconds: 0 }),
    store.auditLog.createIndex({ organization_id: 1, at: -1, _id: -1 }),
    store.auditLog.createIndex({ organization_id: 1, actor: 1, at: -1, _id: -1 }),
    store.auditLog.createIndex({ organization_id: 1, action: 1, at: -1, _id: -1 }),
    createExpiry(db, store.auditLog.collectionName, "at", AUDIT_KEPT_DAYS * DAY_SECONDS),
    store.invitations.createIndex({ organization_id: 1, email: 1 }, { unique: true }),
    store.invitations.createIndex({ token_hash: 1 }, { unique: true }),
    store.invitations.createIndex({ expires_at: 1 }, { expireAfterSeconds: INVITATIONS_SHOWN_SECONDS }),
    createExpiry(db, store.formerMembers.collectionName, "removed_at", AUDIT_KEPT_DAYS * DAY_SECONDS),
    store.removedMembers.createIndex({ organization_id: 1, email: 1 }),
    store.removedMembers.createIndex({ organization_id: 1, "identity.issuer": 1, "identity.subject": 1 }),
    store.usage.createIndex({ organization_id: 1, environment: 1, hour: 1 }),
    store.usage.createIndex({ hour: 1 }, { expireAfterSeconds: USAGE_KEPT_SECONDS }),
    store.usageReports.createIndex({ at: 1 }, { expireAfterSeconds: REPORTS_KEPT_SECONDS }),
    ...indexesOfRequests.map((fields) =>
      store.requestLog.createIndex({ organization_id: 1, environment: 1, ...fields, created_at: -1, _id: -1 }),
    ),
    store.requestLog.createIndex({ created_at: 1 }, { expireAfterSeconds: REQUESTS_KEPT_SECONDS }),
    // By then an allowance is full again, as if it did not exist.
    store.requestAllowances.createIndex({ at: 1 }, { expireAfterSeconds: REQUESTS_KEPT_SECONDS }),
    store.requestGaps.createIndex({ organization_id: 1, environment: 1, hour: 1 }),
    store.requestGaps.createIndex({ hour: 1 }, { expireAfterSeconds: REQUESTS_KEPT_SECONDS }),
    store.mails.createIndex({ next_attempt_at: 1 }),
    store.mails.createIndex({ created_at: 1 }),
    store.mailbox.createIndex({ received_at: 1 }, { expireAfterSeconds: MAILBOX_KEPT_SECONDS }),
    store.notificationSettings.createIndex({ organization_id: 1 }),
    store.pendingNotifications.createIndex({ due_at: 1 }, { partialFilterExpression: { due_at: { $exists: true } } }),
    store.gatheredNotifications.createIndex({ at: 1 }, { expireAfterSeconds: GATHERED_KEPT_SECONDS }),
  ]);
}
