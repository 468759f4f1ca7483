import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { keyRing } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { connectMongo } from "@vvs/mongo";
import type { Environment } from "@vvs/tenant";
import { type AccountDomain, createAccountDomain } from "../../services/account/src/provision.ts";
import type { DemoOrganization } from "./demo.ts";

/** Two, so that isolation can be tried. */
const ORGANIZATIONS = [
  { name: "Demo Growth", plan: "growth", email: "growth@demo.example" },
  { name: "Demo Starter", plan: "starter", email: "starter@demo.example" },
] as const;

const SEED = { actor: "seed", requestId: "seed" };
const KEY_NAME = "Local run";

/**
 * Makes the demo organizations, or finds them again: keys and passwords that an earlier run of this checkout made still
 * hold, and are kept in `file`, since nothing else knows them.
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

/** Runs work on the account domain of a run, by its variables. */
export async function withAccounts<T>(
  environment: Readonly<Record<string, string>>,
  work: (accounts: AccountDomain) => Promise<T>,
): Promise<T> {
  const client = await connectMongo({
    uri: environment.MONGODB_URI!,
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
  const user = await accounts.findUser(email);
  const organizationId = user?.organization_id ?? (await accounts.createOrganization(SEED, { name, plan }))._id;
  const password = await seedPassword(accounts, {
    organizationId,
    email,
    exists: user !== undefined,
    earlier: earlier?.password,
  });
  const secretOf = async (environment: Environment) =>
    (await accounts.getWebhookSecret({ tenant: { organizationId, environment }, ...SEED })).value;
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

async function seedPassword(
  accounts: AccountDomain,
  user: { organizationId: string; email: string; exists: boolean; earlier: string | undefined },
): Promise<string> {
  const { organizationId, email, exists, earlier } = user;
  if (exists && earlier && (await accounts.verifyPassword(email, earlier))) return earlier;
  const password = randomBytes(12).toString("base64url");
  if (exists) await accounts.setPassword(SEED, { email, password });
  else await accounts.createUser(SEED, { organizationId, email, password });
  return password;
}

async function seedKey(
  accounts: AccountDomain,
  tenant: { organizationId: string; environment: Environment },
  earlier: string | undefined,
): Promise<string> {
  const found = earlier ? await accounts.findApiKey(earlier) : undefined;
  if (earlier && found && !found.revoked_at && found.organization_id === tenant.organizationId) return earlier;
  const caller = { tenant, ...SEED };
  // Values that nobody knows any more would count against the cap on active keys.
  for (const lost of await accounts.listApiKeys(tenant)) {
    if (lost.name === KEY_NAME && !lost.revoked_at) await accounts.revokeApiKey(caller, lost._id);
  }
  return (await accounts.createApiKey(caller, { name: KEY_NAME })).value;
}
