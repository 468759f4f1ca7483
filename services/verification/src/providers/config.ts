import { createHash } from "node:crypto";
import type { Check } from "@vvs/checks";
import { ConfigError, count, flag, z } from "@vvs/config";
import type { ProviderAccount } from "./call-class.ts";
import type { TaxBanditsCredentials } from "./taxbandits/taxbandits-token.ts";

/** Parses a comma-separated list of provider names; all of `names` where the variable is absent. */
const order = <Name extends string>(...names: [Name, ...Name[]]) =>
  z
    .string()
    .transform((text) => text.split(",").map((name) => name.trim()))
    .pipe(z.array(z.enum(names)).min(1))
    .refine((listed) => new Set(listed).size === listed.length, { message: "names a provider twice" })
    .default(names);

/** Parses a credential that is sent in a header. */
const secret = () => z.string().regex(/^[\x21-\x7e]{8,}$/, { message: "must be 8 or more printable characters" });

/** Parses the URL of a provider: https, or http on this machine only, since keys are sent there. Drops a final slash. */
const baseUrl = () =>
  z
    .url({ protocol: /^https?$/ })
    .refine((text) => !/[?#@]/.test(text), { message: "must have no user, query or fragment" })
    .refine((text) => text.startsWith("https:") || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(`${text}/`), {
      message: "must begin with https://",
    })
    .transform((text) => text.replace(/\/+$/, ""));

/** The variables of live providers. A provider without credentials is not used. */
export const providersSection = {
  /** Providers of sam_registration, in the order they are asked. */
  SAM_REGISTRATION_PROVIDERS: order("sam_gov_api", "sam_gov_extract"),
  /** Key for SAM.gov's public APIs; without it `sam_gov_api` is not used. A key is valid for 90 days. */
  SAM_GOV_API_KEY: secret().optional(),
  /** The day the key was issued, YYYY-MM-DD, for the metric of its age. */
  SAM_GOV_KEY_ISSUED_ON: z.iso.date().optional(),
  SAM_GOV_BASE_URL: baseUrl().default("https://api.sam.gov"),
  /** Version of the Entity Management API. */
  SAM_GOV_ENTITY_VERSION: z.enum(["v3", "v4"]).default("v3"),
  /**
   * HTTP calls per day that the key's account allows (10, 1,000 or 10,000), for all replicas together; not counted where
   * absent. Direct calls keep 30 % of it, and monitors' runs 50 %.
   */
  SAM_GOV_DAILY_QUOTA: count(1).optional(),
  /** Most of that quota that one organization's direct calls and first runs may use per day, in per cent. */
  SAM_GOV_ORGANIZATION_PERCENT: count(1).max(100).default(20),
  /** How long a vendor that a later run of a monitor asks about waits for others to share a call with, in seconds; 0 asks immediately. */
  SAM_GOV_GATHER_SECONDS: count().max(86_400).default(600),
  /** Accept servers without secure TLS renegotiation, in case SAM.gov's lack it. */
  SAM_GOV_LEGACY_TLS: flag().default(false),
  /** Providers of tin_match, in the order they are asked. */
  TIN_MATCH_PROVIDERS: order("taxbandits", "compliancely"),
  /**
   * Maximum number of live monitor runs with tin_match in flight. Each may hold a connection to a TIN provider; direct
   * calls have further connections.
   */
  LIVE_TIN_RUNS_AT_ONCE: count(1).default(64),
  /** From TaxBandits' developer console, with the next two; without all three `taxbandits` is not used. */
  TAXBANDITS_CLIENT_ID: secret().optional(),
  TAXBANDITS_CLIENT_SECRET: secret().optional(),
  TAXBANDITS_USER_TOKEN: secret().optional(),
  /** URL of TaxBandits' authentication server, as documented. Of its sandbox: https://testoauth.expressauth.net/v2/tbsauth. */
  TAXBANDITS_AUTH_URL: baseUrl().default("https://oauth.expressauth.net/v2/tbsauth"),
  /**
   * URL of TaxBandits' API, with the version in its path. The documentation names only the sandbox's,
   * https://testapi.taxbandits.com/v1.7.3. This default is derived from it, so confirm it with the vendor.
   */
  TAXBANDITS_BASE_URL: baseUrl().default("https://api.taxbandits.com/v1.7.3"),
  /** Key for Compliancely's API; without it `compliancely` is not used. */
  COMPLIANCELY_API_KEY: secret().optional(),
  /** URL of Compliancely's API, as documented. Of its sandbox: https://sandbox.compliancely.com. */
  COMPLIANCELY_BASE_URL: baseUrl().default("https://app1.compliancely.com"),
};

export type ProvidersConfig = z.infer<z.ZodObject<typeof providersSection>>;

/** A live provider, by the name it has in results. */
export type LiveProviderName = ReturnType<typeof providerOrder>[Check][number];

/** Returns the names of each check's live providers, in the order they are asked. */
export function providerOrder(config: ProvidersConfig) {
  return {
    sam_registration: config.SAM_REGISTRATION_PROVIDERS,
    tin_match: config.TIN_MATCH_PROVIDERS,
  } satisfies Record<Check, readonly string[]>;
}

/** Returns the keys in use and their quotas by provider; a provider whose calls are not counted is absent. */
export function providerAccounts(config: ProvidersConfig): Readonly<Record<string, ProviderAccount>> {
  const { SAM_GOV_API_KEY: key, SAM_GOV_DAILY_QUOTA: quota } = config;
  if (!key) return {};
  const fingerprint = createHash("sha256").update(`sam-gov-key:${key}`).digest("hex").slice(0, 12);
  return { sam_gov_api: { fingerprint, quota } };
}

/** Returns TaxBandits' credentials; undefined where none is set. Errors: ConfigError where only some are set. */
export function taxBanditsCredentials(config: ProvidersConfig): TaxBanditsCredentials | undefined {
  const clientId = config.TAXBANDITS_CLIENT_ID;
  const clientSecret = config.TAXBANDITS_CLIENT_SECRET;
  const userToken = config.TAXBANDITS_USER_TOKEN;
  if (!clientId && !clientSecret && !userToken) return undefined;
  if (clientId && clientSecret && userToken) return { clientId, clientSecret, userToken };
  throw new ConfigError(
    "TAXBANDITS_CLIENT_ID, TAXBANDITS_CLIENT_SECRET and TAXBANDITS_USER_TOKEN: are needed together",
  );
}
