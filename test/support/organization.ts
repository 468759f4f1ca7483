import { randomUUID } from "node:crypto";
import type { Environment } from "@vvs/tenant";
import { withAccounts } from "../../deploy/local/seed.ts";
import { type Api, createApi } from "./api.ts";
import { type SharedProduct, sharedProduct } from "./product.ts";

const SEED = { actor: "test", requestId: "test" };

/** An organization for one test, with a user, and a key and a webhook secret per environment. */
export interface TestOrganization {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** The API with a live key, and with a test key. */
  readonly live: Api;
  readonly sandbox: Api;
  readonly keys: Readonly<Record<Environment, string>>;
  readonly webhookSecrets: Readonly<Record<Environment, string>>;
}

/** High enough that no test is limited unless it sets a limit. */
const UNLIMITED = 100_000;

export async function createOrganization(
  options: {
    name?: string;
    email?: string;
    limitPerMinute?: number;
    /** Whether the operator approved live tin_match; true where absent. */
    liveTinMatch?: boolean;
    product?: Pick<SharedProduct, "baseUrl" | "environment">;
  } = {},
): Promise<TestOrganization> {
  const { product = sharedProduct() } = options;
  return withAccounts(product.environment, async (accounts) => {
    const { email = `${randomUUID()}@test.example`, name = email } = options;
    const password = randomUUID();
    const limitPerMinute = options.limitPerMinute ?? UNLIMITED;
    const { _id: id } = await accounts.organizations.create(SEED, { name, plan: "enterprise", limitPerMinute });
    await accounts.organizations.setLiveTinMatch(SEED, id, options.liveTinMatch ?? true);
    await accounts.users.create(SEED, { organizationId: id, email, password });
    const caller = (environment: Environment) => ({ tenant: { organizationId: id, environment }, ...SEED });
    const keyOf = async (environment: Environment) =>
      (await accounts.apiKeys.create(caller(environment), { name: "test" })).value;
    const secretOf = async (environment: Environment) => (await accounts.webhookSecrets.get(caller(environment))).value;
    const keys = { live: await keyOf("live"), sandbox: await keyOf("sandbox") };
    return {
      id,
      email,
      password,
      keys,
      live: createApi(product.baseUrl, keys.live),
      sandbox: createApi(product.baseUrl, keys.sandbox),
      webhookSecrets: { live: await secretOf("live"), sandbox: await secretOf("sandbox") },
    };
  });
}

/** Creates another key of an organization. */
export async function createKey(
  organization: TestOrganization,
  environment: Environment,
): Promise<{ id: string; value: string; api: Api }> {
  const product = sharedProduct();
  return withAccounts(product.environment, async (accounts) => {
    const caller = { tenant: { organizationId: organization.id, environment }, ...SEED };
    const { key, value } = await accounts.apiKeys.create(caller, { name: "another" });
    return { id: key._id, value, api: createApi(product.baseUrl, value) };
  });
}
