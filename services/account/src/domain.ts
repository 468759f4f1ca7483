import type { SecretKey } from "@vvs/config";
import type { MongoClient } from "mongodb";
import { createOperatedUsers, type OperatedUsers } from "./admin/operated-users.ts";
import { type ApiKeys, createApiKeys } from "./api-keys/api-keys.ts";
import { createKeyRecords, type KeyRecords } from "./api-keys/key-records.ts";
import { createAuditLog } from "./audit/audit.ts";
import { type AuditEntries, createAuditEntries } from "./audit/audit-entries.ts";
import { createReportedActions, type ReportedActions } from "./audit/reported-actions.ts";
import { createMailLimits } from "./mail/mail-limits.ts";
import { createMailQueue, type MailQueue } from "./mail/queue.ts";
import { createMailTexts } from "./mail/texts.ts";
import { createInvitations, type Invitations } from "./organizations/invitations.ts";
import { createMembers, type Members } from "./organizations/members.ts";
import { createOrganizations, type Organizations } from "./organizations/organizations.ts";
import { createPasskeyChallenges } from "./passkeys/passkey-challenges.ts";
import { createPasskeySignIns, type PasskeySignIns } from "./passkeys/passkey-sign-in.ts";
import { createPasskeys, type Passkeys } from "./passkeys/passkeys.ts";
import { relyingParty } from "./passkeys/webauthn.ts";
import { createAttemptWindows } from "./sessions/attempt-windows.ts";
import { createLiveSessions } from "./sessions/live-sessions.ts";
import { createOwnSessions, type OwnSessions } from "./sessions/own-sessions.ts";
import { createSignIns, type SignIns } from "./sessions/sign-in.ts";
import { createSignInLimits } from "./sessions/sign-in-limits.ts";
import { createIdentityProviders, type IdentityProvider } from "./sso/identity-providers.ts";
import { createOpenId } from "./sso/openid.ts";
import { createSingleSignOn, type SingleSignOn } from "./sso/single-sign-on.ts";
import { type AccountStore, accountStore } from "./store.ts";
import { createUsage, type Usage } from "./usage/usage.ts";
import { createOwnPassword, type OwnPassword } from "./users/own-password.ts";
import { createPasswordResets, type PasswordResets } from "./users/password-reset.ts";
import { createSecondFactor, type SecondFactor } from "./users/second-factor.ts";
import { createSignUps, type SignUps } from "./users/sign-up.ts";
import { createUsers, type Users } from "./users/users.ts";
import { createResealing, type Resealing } from "./webhook-secrets/resealing.ts";
import { createWebhookSecrets, type WebhookSecrets } from "./webhook-secrets/webhook-secret-store.ts";

/** Everything that can be done with accounts, by theme. Each change is audited, whoever makes it: a user, the operator or a seed. */
export interface AccountDomain {
  readonly organizations: Organizations;
  readonly members: Members;
  readonly invitations: Invitations;
  readonly users: Users;
  /** Users as the operator's command manages them. */
  readonly operatedUsers: OperatedUsers;
  readonly signUps: SignUps;
  readonly signIns: SignIns;
  readonly passwordResets: PasswordResets;
  readonly singleSignOn: SingleSignOn;
  /** The sessions that a signed-in user lists and ends. */
  readonly sessions: OwnSessions;
  readonly ownPassword: OwnPassword;
  readonly secondFactor: SecondFactor;
  readonly passkeys: Passkeys;
  readonly passkeySignIns: PasskeySignIns;
  readonly apiKeys: ApiKeys;
  /** Key records as gateways use them. */
  readonly keyRecords: KeyRecords;
  readonly webhookSecrets: WebhookSecrets;
  readonly resealing: Resealing;
  readonly usage: Usage;
  readonly auditLog: ReportedActions & AuditEntries;
  /** Queues the emails that these actions cause; `runMailer` sends them. */
  readonly mailQueue: MailQueue;
  readonly store: AccountStore;
}

export interface AccountDomainOptions {
  /** Must read and write with majority, as connectMongo's does. */
  readonly client: MongoClient;
  /** Before the names of databases. */
  readonly prefix: string;
  readonly apiKeyPeppers: readonly SecretKey[];
  readonly webhookSecretKeys: readonly SecretKey[];
  /** None where absent: users sign in by their passwords. */
  readonly identityProviders?: readonly IdentityProvider[];
  /** The dashboard as browsers see it, which passkeys are made for and links of mails lead to. */
  readonly dashboardUrl: URL;
  /** May anybody sign up? */
  readonly signUpOpen: boolean;
  readonly now: () => Date;
}

/** The account domain on a migrated database. */
export function createAccountDomain(options: AccountDomainOptions): AccountDomain {
  const { client, now, webhookSecretKeys: keys } = options;
  const store = accountStore(client, options.prefix);
  const audit = createAuditLog({ store, now });
  const mailQueue = createMailQueue({ mails: store.mails, keys, now });
  const shared = { client, store, audit, now };
  const providers = createIdentityProviders(options.identityProviders ?? []);
  const mails = { mailQueue, texts: createMailTexts({ dashboardUrl: options.dashboardUrl }) };
  const users = createUsers({ ...shared, ...mails });
  const windows = createAttemptWindows({ store, now });
  const limits = createSignInLimits({ windows, now });
  const sessions = { ...shared, ...mails, liveSessions: createLiveSessions({ store, now }) };
  const passwords = { ...sessions, users, limits };
  const secondFactor = createSecondFactor({ ...sessions, keys });
  const challenges = createPasskeyChallenges({ store, now });
  const passkeys = { ...sessions, challenges, rp: relyingParty(options.dashboardUrl) };
  const webhookSecrets = createWebhookSecrets({ ...shared, keys });
  const organizations = createOrganizations({ ...shared, webhookSecrets });
  const signIns = createSignIns({ ...passwords, identityProviders: providers, secondFactor });
  const entry = { ...shared, ...mails, signInLimits: limits, mailLimits: createMailLimits({ windows, now }) };
  return {
    organizations,
    members: createMembers(shared),
    invitations: createInvitations({ ...entry, users, signIns }),
    users,
    operatedUsers: createOperatedUsers({ ...shared, mailQueue }),
    signUps: createSignUps({ ...entry, open: options.signUpOpen, organizations, users, signIns }),
    signIns,
    passwordResets: createPasswordResets({ ...entry, users }),
    singleSignOn: createSingleSignOn({ ...sessions, users, providers, openId: createOpenId({ now }) }),
    sessions: createOwnSessions(sessions),
    ownPassword: createOwnPassword(passwords),
    secondFactor,
    passkeys: createPasskeys(passkeys),
    passkeySignIns: createPasskeySignIns({ ...passkeys, identityProviders: providers }),
    apiKeys: createApiKeys({ ...shared, peppers: options.apiKeyPeppers }),
    keyRecords: createKeyRecords({ client, store, now }),
    webhookSecrets,
    resealing: createResealing({ store, keys, now }),
    usage: createUsage({ client, store, now }),
    auditLog: { ...createReportedActions({ client, audit }), ...createAuditEntries({ store }) },
    mailQueue,
    store,
  };
}
