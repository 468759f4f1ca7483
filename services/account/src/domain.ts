import type { SecretKey } from "@vvs/config";
import type { MongoClient } from "mongodb";
import { createOperatedUsers } from "./admin/operated-users.ts";
import { createApiKeys } from "./api-keys/api-keys.ts";
import { createKeyRecords } from "./api-keys/key-records.ts";
import { createAuditLog } from "./audit/audit.ts";
import { createAuditEntries } from "./audit/audit-entries.ts";
import { createFailedSignIns } from "./audit/failed-sign-ins.ts";
import { createReportedActions } from "./audit/reported-actions.ts";
import { createNotices } from "./mail/notices.ts";
import { createMailQueue } from "./mail/queue.ts";
import { createMailTexts } from "./mail/texts.ts";
import { createInvitations } from "./organizations/invitations.ts";
import { createMembers } from "./organizations/members.ts";
import { createOrganizations } from "./organizations/organizations.ts";
import { createPasskeyChallenges } from "./passkeys/passkey-challenges.ts";
import { createPasskeySignIns } from "./passkeys/passkey-sign-in.ts";
import { createPasskeys } from "./passkeys/passkeys.ts";
import { relyingParty } from "./passkeys/webauthn.ts";
import { createAttemptLimits } from "./sessions/attempt-limits.ts";
import { createCallersBySession } from "./sessions/callers-by-session.ts";
import { createKnownDevices } from "./sessions/known-devices.ts";
import { createLiveSessions } from "./sessions/live-sessions.ts";
import { createOwnSessions } from "./sessions/own-sessions.ts";
import { createSignIns } from "./sessions/sign-in.ts";
import { createIdentityProviders, type IdentityProvider } from "./sso/identity-providers.ts";
import { createOpenId } from "./sso/openid.ts";
import { createSingleSignOn } from "./sso/single-sign-on.ts";
import { accountStore } from "./store.ts";
import { createUsage } from "./usage/usage.ts";
import { createOwnPassword } from "./users/own-password.ts";
import { createPasswordResets } from "./users/password-reset.ts";
import { createPasswords } from "./users/passwords.ts";
import { createSecondFactor } from "./users/second-factor.ts";
import { createSignUps } from "./users/sign-up.ts";
import { createUsers } from "./users/users.ts";
import { createResealing } from "./webhook-secrets/resealing.ts";
import { createWebhookSecrets } from "./webhook-secrets/webhook-secret-store.ts";

export interface AccountDomainOptions {
  /** Must read and write with majority, as connectMongo's does. */
  readonly client: MongoClient;
  /** Prefix of database names. */
  readonly prefix: string;
  readonly apiKeyPeppers: readonly SecretKey[];
  readonly webhookSecretKeys: readonly SecretKey[];
  /** If absent, users sign in with passwords and passkeys. */
  readonly identityProviders?: readonly IdentityProvider[];
  /** Public URL of the dashboard: passkeys belong to its host, and links in emails lead there. */
  readonly dashboardUrl: URL;
  /** Whether anyone can sign up. */
  readonly signUpOpen: boolean;
  readonly now: () => Date;
}

export type AccountDomain = ReturnType<typeof createAccountDomain>;

/**
 * Returns everything that can be done with accounts on a migrated database, by theme. Each change is audited, whether a
 * user, the operator or a seed makes it.
 */
export function createAccountDomain(options: AccountDomainOptions) {
  const { client, now, webhookSecretKeys: keys } = options;
  const store = accountStore(client, options.prefix);
  const audit = createAuditLog({ store, now });
  const mailQueue = createMailQueue({ mails: store.mails, keys, now });
  const shared = { client, store, audit, now };
  const providers = createIdentityProviders(options.identityProviders ?? []);
  const mails = { mailQueue, texts: createMailTexts({ dashboardUrl: options.dashboardUrl }) };
  const notices = createNotices({ ...shared, ...mails });
  const passwords = createPasswords();
  const users = createUsers({ ...shared, ...mails, passwords });
  const { signIns: limits, mails: mailLimits } = createAttemptLimits({ store, now });
  const devices = createKnownDevices({ keys, now });
  const sessions = {
    ...shared,
    ...mails,
    liveSessions: createLiveSessions({ store, now }),
    users,
    passwords,
    limits,
    devices,
  };
  const secondFactor = createSecondFactor({ ...sessions, keys });
  const challenges = createPasskeyChallenges({ store, limits, now });
  const passkeys = { ...sessions, notices, challenges, rp: relyingParty(options.dashboardUrl) };
  const webhookSecrets = createWebhookSecrets({ ...shared, notices, keys });
  const organizations = createOrganizations({ ...shared, webhookSecrets });
  const signIns = createSignIns({
    ...sessions,
    failedSignIns: createFailedSignIns({ store, now }),
    identityProviders: providers,
    secondFactor,
  });
  const entry = { ...shared, ...mails, users, passwords, devices, signInLimits: limits, mailLimits };
  return {
    organizations,
    members: createMembers(shared),
    invitations: createInvitations({ ...entry, signIns }),
    users,
    operatedUsers: createOperatedUsers({ ...shared, mailQueue }),
    signUps: createSignUps({ ...entry, open: options.signUpOpen, organizations, signIns }),
    signIns,
    passwordResets: createPasswordResets(entry),
    singleSignOn: createSingleSignOn({ ...sessions, providers, openId: createOpenId({ now }) }),
    sessions: createOwnSessions(sessions),
    callersBySession: createCallersBySession(sessions),
    ownPassword: createOwnPassword(sessions),
    secondFactor,
    passkeys: createPasskeys(passkeys),
    passkeySignIns: createPasskeySignIns({ ...passkeys, identityProviders: providers }),
    apiKeys: createApiKeys({ ...shared, notices, peppers: options.apiKeyPeppers }),
    keyRecords: createKeyRecords({ client, store, now }),
    webhookSecrets,
    resealing: createResealing({ store, keys, now }),
    usage: createUsage({ client, store, now }),
    auditLog: { ...createReportedActions({ client, audit }), ...createAuditEntries({ store }) },
    mailQueue,
    store,
  };
}
