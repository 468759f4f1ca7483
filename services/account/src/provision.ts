import type { SecretKey } from "@vvs/config";
import type { MongoClient } from "mongodb";
import { type ApiKeys, createApiKeys } from "./api-keys.ts";
import { createAttemptWindows } from "./attempt-windows.ts";
import { createAuditLog } from "./audit.ts";
import { type AuditEntries, createAuditEntries } from "./audit-entries.ts";
import { createIdentityProviders, type IdentityProvider } from "./identity-providers.ts";
import { createInvitations, type Invitations } from "./invitations.ts";
import { createKeyRecords, type KeyRecords } from "./key-records.ts";
import { createLiveSessions } from "./live-sessions.ts";
import { createMailQueue, type MailQueue } from "./mail/queue.ts";
import { createMailTexts } from "./mail/texts.ts";
import { createMailLimits } from "./mail-limits.ts";
import { createMembers, type Members } from "./members.ts";
import { createOpenId } from "./openid.ts";
import { createOperatedUsers, type OperatedUsers } from "./operated-users.ts";
import { createOrganizations, type Organizations } from "./organizations.ts";
import { createOwnPassword, type OwnPassword } from "./own-password.ts";
import { createOwnSessions, type OwnSessions } from "./own-sessions.ts";
import { createPasskeyChallenges } from "./passkey-challenges.ts";
import { createPasskeySignIns, type PasskeySignIns } from "./passkey-sign-in.ts";
import { createPasskeys, type Passkeys } from "./passkeys.ts";
import { createPasswordResets, type PasswordResets } from "./password-reset.ts";
import { createReportedActions, type ReportedActions } from "./reported-actions.ts";
import { createResealing, type Resealing } from "./resealing.ts";
import { createSecondFactor, type SecondFactor } from "./second-factor.ts";
import { createSignIns, type SignIns } from "./sign-in.ts";
import { createSignInLimits } from "./sign-in-limits.ts";
import { createSignUps, type SignUps } from "./sign-up.ts";
import { createSingleSignOn, type SingleSignOn } from "./single-sign-on.ts";
import { type AccountStore, accountStore } from "./store.ts";
import { createUsage, type Usage } from "./usage.ts";
import { createUsers, type Users } from "./users.ts";
import { relyingParty } from "./webauthn.ts";
import { createWebhookSecrets, type WebhookSecrets } from "./webhook-secret-store.ts";

/** Everything that can be done with accounts, audited whoever does it: the service, the operator's command, a seeding. */
export interface AccountDomain
  extends Omit<Organizations, "insertOrganization">,
    Omit<Users, "insertUser">,
    ApiKeys,
    SignIns,
    SingleSignOn,
    OperatedUsers,
    SignUps,
    PasswordResets,
    OwnSessions,
    OwnPassword,
    Passkeys,
    PasskeySignIns,
    Omit<SecondFactor, "useCode">,
    ReportedActions,
    AuditEntries,
    Members,
    Invitations,
    Usage,
    Resealing,
    Omit<WebhookSecrets, "insertWebhookSecrets"> {
  /** Key records as gateways take them. */
  readonly keyRecords: KeyRecords;
  /** Takes the mails that what is done with accounts causes; `runMailer` sends them. */
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
  const { client, now } = options;
  const store = accountStore(client, options.prefix);
  const audit = createAuditLog({ store, now });
  const mailQueue = createMailQueue({ mails: store.mails, keys: options.webhookSecretKeys, now });
  const shared = { client, store, audit, now };
  const identityProviders = createIdentityProviders(options.identityProviders ?? []);
  const texts = createMailTexts({ dashboardUrl: options.dashboardUrl });
  const mails = { mailQueue, texts };
  const { insertUser, ...users } = createUsers({ ...shared, ...mails });
  const windows = createAttemptWindows({ store, now });
  const limits = createSignInLimits({ windows, now });
  const sessions = { ...shared, ...mails, liveSessions: createLiveSessions({ store, now }) };
  const passwords = { ...sessions, users, limits };
  const { useCode, ...secondFactor } = createSecondFactor({ ...sessions, keys: options.webhookSecretKeys });
  const challenges = createPasskeyChallenges({ store, now });
  const passkeys = { ...sessions, challenges, rp: relyingParty(options.dashboardUrl) };
  const { insertWebhookSecrets, ...webhookSecrets } = createWebhookSecrets({
    ...shared,
    keys: options.webhookSecretKeys,
  });
  const { insertOrganization, ...organizations } = createOrganizations({ ...shared, insertWebhookSecrets });
  const signIns = createSignIns({ ...passwords, identityProviders, secondFactor: { useCode } });
  const entry = { ...shared, ...mails, signInLimits: limits, mailLimits: createMailLimits({ windows, now }) };
  return {
    ...organizations,
    ...users,
    ...createApiKeys({ ...shared, peppers: options.apiKeyPeppers }),
    ...createSignIns({ ...passwords, identityProviders, secondFactor: { useCode } }),
    ...createOperatedUsers({ ...shared, mailQueue }),
    ...signIns,
    ...createSignUps({
      ...entry,
      open: options.signUpOpen,
      organizations: { insertOrganization },
      users: { ...users, insertUser },
      signIns,
    }),
    ...createPasswordResets({ ...entry, users }),
    ...createSingleSignOn({ ...sessions, users, providers: identityProviders, openId: createOpenId({ now }) }),
    ...secondFactor,
    ...createOwnSessions(sessions),
    ...createOwnPassword(passwords),
    ...createPasskeys(passkeys),
    ...createPasskeySignIns({ ...passkeys, identityProviders }),
    ...webhookSecrets,
    ...createReportedActions({ client, audit }),
    ...createAuditEntries({ store }),
    ...createMembers(shared),
    ...createInvitations({ ...entry, users: { ...users, insertUser }, signIns }),
    ...createUsage({ client, store, now }),
    ...createResealing({ store, keys: options.webhookSecretKeys, now }),
    keyRecords: createKeyRecords({ client, store, now }),
    mailQueue,
    store,
  };
}
