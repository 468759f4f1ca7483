import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { keyRing, loadConfig, z } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { connectMongo, mongoOptions, mongoSection } from "@vvs/mongo";
import type { Environment } from "@vvs/tenant";
import { type AccountDomain, createAccountDomain } from "../../services/account/src/domain.ts";
import type { DemoOrganization } from "./demo.ts";

/** Two organizations, so that their isolation can be tried out. */
const ORGANIZATIONS = [
  { name: "Demo Growth", plan: "growth", email: "growth@demo.example" },
  { name: "Demo Starter", plan: "starter", email: "starter@demo.example" },
] as const;

const SEED = { actor: "seed", requestId: "seed" };
const KEY_NAME = "Local run";

/**
 * Creates the demo organizations, or finds those of an earlier run. Their keys and passwords stay valid. They are kept in
 * `file`, because the database has only hashes.
 */
export async function seedOrganizations(
  file: string,
  environment: Readonly<Record<string, string>>,
): Promise<DemoOrganization[]> {
  const earlier: DemoOrganization[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const organizations = await withAccounts(environment, (accounts) =>
    Promise.all(
      ORGANIZATIONS.map((wanted) =>
        seed(
          accounts,
          wanted,
          earlier.find(({ email }) => email === wanted.email),
        ),
      ),
    ),
  );
  writeFileSync(file, `${JSON.stringify(organizations, null, 2)}\n`, { mode: 0o600 });
  return organizations;
}

/** Calls `work` with the account domain of a run, given its variables. */
export async function withAccounts<T>(
  environment: Readonly<Record<string, string>>,
  work: (accounts: AccountDomain) => Promise<T>,
): Promise<T> {
  const client = await connectMongo({
    ...mongoOptions(loadConfig(z.object(mongoSection), environment)),
    service: "seed",
    logger: createLogger({ service: "seed", level: "error" }),
    stopping: AbortSignal.timeout(10_000),
  });
  try {
    return await work(
      createAccountDomain({
        client,
        prefix: environment.MONGODB_DATABASE_PREFIX!,
        apiKeyPeppers: keyRing().parse(environment.API_KEY_PEPPERS),
        webhookSecretKeys: keyRing().parse(environment.WEBHOOK_SECRET_KEYS),
        dashboardUrl: new URL(environment.DASHBOARD_URL!),
        signUpOpen: false,
        now: () => new Date(),
      }),
    );
  } finally {
    await client.close();
  }
}

async function seed(
  accounts: AccountDomain,
  wanted: (typeof ORGANIZATIONS)[number],
  earlier: DemoOrganization | undefined,
): Promise<DemoOrganization> {
  const { name, plan, email } = wanted;
  const user = await accounts.users.find(email);
  const organizationId = user?.organization_id ?? (await createApproved(accounts, { name, plan }));
  const password = await seedPassword(accounts, {
    organizationId,
    email,
    exists: user !== undefined,
    earlier: earlier?.password,
  });
  const secretOf = async (environment: Environment) =>
    (await accounts.webhookSecrets.get({ tenant: { organizationId, environment }, ...SEED })).value;
  return {
    name,
    plan,
    email,
    password,
    live_key: await seedKey(accounts, { organizationId, environment: "live" }, earlier?.live_key),
    test_key: await seedKey(accounts, { organizationId, environment: "sandbox" }, earlier?.test_key),
    webhook_secret_live: await secretOf("live"),
    webhook_secret_test: await secretOf("sandbox"),
  };
}

/** Creates an organization that may also ask real TIN providers, if the local run has any. */
async function createApproved(accounts: AccountDomain, wanted: { name: string; plan: string }): Promise<string> {
  const { _id: id } = await accounts.organizations.create(SEED, wanted);
  await accounts.organizations.setLiveTinMatch(SEED, id, true);
  return id;
}

async function seedPassword(
  accounts: AccountDomain,
  user: { organizationId: string; email: string; exists: boolean; earlier: string | undefined },
): Promise<string> {
  const { organizationId, email, exists, earlier } = user;
  if (exists && earlier && (await accounts.users.verifyPassword(email, earlier))) return earlier;
  const password = randomBytes(12).toString("base64url");
  if (exists) await accounts.users.setPassword(SEED, { email, password });
  else await accounts.users.create(SEED, { organizationId, email, password });
  return password;
}

async function seedKey(
  accounts: AccountDomain,
  tenant: { organizationId: string; environment: Environment },
  earlier: string | undefined,
): Promise<string> {
  const found = earlier ? await accounts.apiKeys.find(earlier) : undefined;
  if (earlier && found && !found.revoked_at && found.organization_id === tenant.organizationId) return earlier;
  const caller = { tenant, ...SEED };
  // Keys whose value is lost would count towards the limit of active keys.
  for (const lost of await accounts.apiKeys.list(tenant)) {
    if (lost.name === KEY_NAME && !lost.revoked_at) await accounts.apiKeys.revoke(caller, lost._id);
  }
  return (await accounts.apiKeys.create(caller, { name: KEY_NAME })).value;
}
