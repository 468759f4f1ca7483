import type { SecretKey } from "@vvs/config";
import type { Admit } from "@vvs/fair-queue";
import type { MongoClient } from "mongodb";
import { createApiKeys } from "./api-keys/api-keys.ts";
import { createKeyRecords } from "./api-keys/key-records.ts";
import { createAuditLog } from "./audit/audit.ts";
import { createFailedSignIns } from "./audit/failed-sign-ins.ts";
import { createReportedActions } from "./audit/reported-actions.ts";
import { createAuditEntries } from "./audit-log/audit-entries.ts";
import { createNotices } from "./mail/notices.ts";
import { createMailQueue } from "./mail/queue.ts";
import { createMailTexts } from "./mail/texts.ts";
import { createMembers } from "./members/members.ts";
import { createNotificationEmail } from "./notifications/email.ts";
import { createGatherNotifications } from "./notifications/gathering.ts";
import { createRemindOfKeys } from "./notifications/key-reminders.ts";
import { createSendNotifications } from "./notifications/sender.ts";
import { createNotificationSettings } from "./notifications/settings.ts";
import { createUnsubscribeLinks } from "./notifications/unsubscribe-links.ts";
import { createInvitations } from "./organizations/invitations.ts";
import { createOrganizations } from "./organizations/organizations.ts";
import { createSignUps } from "./organizations/sign-up.ts";
import { createPasskeySignIns } from "./passkeys/passkey-sign-in.ts";
import { createPasskeys } from "./passkeys/passkeys.ts";
import { CHALLENGE_MS, relyingParty } from "./passkeys/webauthn.ts";
import { createRequestLog } from "./request-log/request-log.ts";
import { createAttemptLimits } from "./sessions/attempt-limits.ts";
import { createCallersBySession } from "./sessions/callers-by-session.ts";
import { createKnownDevices } from "./sessions/known-devices.ts";
import { createLiveSessions } from "./sessions/live-sessions.ts";
import { createTickets } from "./sessions/one-time-tokens.ts";
import { createOwnSessions } from "./sessions/own-sessions.ts";
import { createSignIns } from "./sign-in/sign-in.ts";
import { createIdentityProviders, type IdentityProvider } from "./sso/identity-providers.ts";
import { createOpenId } from "./sso/openid.ts";
import { createSingleSignOn } from "./sso/single-sign-on.ts";
import { accountStore } from "./store.ts";
import { createUsage } from "./usage/usage.ts";
import { createOperatedUsers } from "./users/operated-users.ts";
import { createOwnPassword } from "./users/own-password.ts";
import { createPasswordResets } from "./users/password-reset.ts";
import { createPasswords } from "./users/passwords.ts";
import { createSecondFactor } from "./users/second-factor.ts";
import { createUsers } from "./users/users.ts";
import { createResealing } from "./webhook-secrets/resealing.ts";
import { createWebhookSecrets } from "./webhook-secrets/webhook-secrets.ts";

/** What both parts need. */
export interface SharedDomainOptions {
  /** Must read and write with majority, as connectMongo's does. */
  readonly client: MongoClient;
  /** Prefix of database names. */
  readonly prefix: string;
  readonly webhookSecretKeys: readonly SecretKey[];
  /** Public URL of the dashboard: passkeys belong to its host, and links in emails lead there. */
  readonly dashboardUrl: URL;
  readonly now: () => Date;
}

export interface PeopleDomainOptions {
  /** If absent, users sign in with passwords and passkeys. */
  readonly identityProviders?: readonly IdentityProvider[];
  /** Whether anyone can sign up. */
  readonly signUpOpen: boolean;
  /** If absent, hashes have a queue of their own. */
  readonly hashQueue?: Admit;
}

export interface AccountDomainOptions extends SharedDomainOptions, PeopleDomainOptions {
  readonly apiKeyPeppers: readonly SecretKey[];
}

export type SharedDomain = ReturnType<typeof createSharedDomain>;
export type KeysDomain = ReturnType<typeof createKeysDomain>;
export type PeopleDomain = ReturnType<typeof createPeopleDomain>;
export type AccountDomain = ReturnType<typeof createAccountDomain>;

/** Returns what both parts use, on a migrated database. It never computes a password's hash. */
export function createSharedDomain(options: SharedDomainOptions) {
  const { client, dashboardUrl, webhookSecretKeys: keys, now } = options;
  const store = accountStore(client, options.prefix);
  const basics = { client, store, audit: createAuditLog({ store, now }), now };
  const mails = {
    mailQueue: createMailQueue({ mails: store.mails, keys, now }),
    texts: createMailTexts({ dashboardUrl }),
  };
  const notices = createNotices({ ...basics, ...mails });
  const liveSessions = createLiveSessions(basics);
  const webhookSecrets = createWebhookSecrets({ ...basics, notices, keys });
  return {
    basics,
    mails,
    keys,
    dashboardUrl,
    notices,
    liveSessions,
    callersBySession: createCallersBySession({ liveSessions, now }),
    webhookSecrets,
    organizations: createOrganizations({ ...basics, webhookSecrets }),
    store,
  };
}

/** Returns what can be done with keys, secrets, usage, the request log and the audit log. It never computes a password's hash. */
export function createKeysDomain(shared: SharedDomain, apiKeyPeppers: readonly SecretKey[]) {
  const { basics, notices, callersBySession, webhookSecrets, organizations, store } = shared;
  return {
    callersBySession,
    webhookSecrets,
    organizations,
    apiKeys: createApiKeys({ ...basics, notices, peppers: apiKeyPeppers }),
    keyRecords: createKeyRecords(basics),
    usage: createUsage(basics),
    requestLog: createRequestLog(basics),
    gatherNotifications: createGatherNotifications(basics),
    auditLog: { ...createReportedActions(basics), ...createAuditEntries({ store }) },
    store,
  };
}

/** Returns what people do with their accounts, sessions and organizations. */
export function createPeopleDomain(shared: SharedDomain, options: PeopleDomainOptions) {
  const { basics, mails, keys, notices, liveSessions, callersBySession, organizations, store } = shared;
  const passwords = createPasswords(options.hashQueue);
  const identityProviders = createIdentityProviders(options.identityProviders ?? []);
  const users = createUsers({ ...basics, ...mails, passwords });
  const { signIns: limits, mails: mailLimits } = createAttemptLimits(basics);
  const devices = createKnownDevices({ keys, now: basics.now });
  const sessions = { ...basics, ...mails, liveSessions, users, passwords, limits, devices, identityProviders };
  const secondFactor = createSecondFactor({ ...sessions, keys });
  const challenges = createTickets({ ...basics, keys, used: store.passkeyChallenges, lifetimeMs: CHALLENGE_MS });
  const passkeys = { ...sessions, notices, challenges, rp: relyingParty(shared.dashboardUrl) };
  const failedSignIns = createFailedSignIns(basics);
  const signIns = createSignIns({ ...sessions, failedSignIns, secondFactor });
  const links = createUnsubscribeLinks({ keys });
  const email = createNotificationEmail({ dashboardUrl: shared.dashboardUrl });
  const entry = { ...basics, ...mails, users, passwords, devices, signInLimits: limits, mailLimits };
  return {
    callersBySession,
    organizations,
    members: createMembers(basics),
    invitations: createInvitations({ ...entry, signIns }),
    users,
    signUps: createSignUps({ ...entry, open: options.signUpOpen, organizations, signIns }),
    signIns,
    passwordResets: createPasswordResets(entry),
    singleSignOn: createSingleSignOn({ ...sessions, keys, openId: createOpenId(basics) }),
    sessions: createOwnSessions(sessions),
    ownPassword: createOwnPassword({ ...sessions, refuseOtherSignIn: identityProviders.refuseOtherSignIn }),
    secondFactor,
    passkeys: createPasskeys(passkeys),
    notificationSettings: createNotificationSettings({ ...basics, links }),
    remindOfKeys: createRemindOfKeys({ ...basics, gather: createGatherNotifications(basics) }),
    sendNotifications: createSendNotifications({ ...basics, ...mails, email, links }),
    passkeySignIns: createPasskeySignIns(passkeys),
    store,
  };
}

/**
 * Returns everything that can be done with accounts, by theme: both parts, and what only the operator does. Each change is
 * audited, whether a user, the operator or a seed makes it.
 */
export function createAccountDomain(options: AccountDomainOptions) {
  const shared = createSharedDomain(options);
  const { basics, mails, keys, store } = shared;
  return {
    ...createKeysDomain(shared, options.apiKeyPeppers),
    ...createPeopleDomain(shared, options),
    operatedUsers: createOperatedUsers({ ...basics, mailQueue: mails.mailQueue }),
    resealing: createResealing({ store, keys, now: basics.now }),
    mailQueue: mails.mailQueue,
  };
}
