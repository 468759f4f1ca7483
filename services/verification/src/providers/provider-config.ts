import { ConfigError, count, flag, z } from "@vvs/config";
import type { TaxBanditsCredentials } from "./taxbandits-token.ts";

/** Providers of a check by name, in the order they are asked. */
const order = <Name extends string>(...names: [Name, ...Name[]]) =>
  z
    .string()
    .transform((text) => text.split(",").map((name) => name.trim()))
    .pipe(z.array(z.enum(names)).min(1))
    .refine((listed) => new Set(listed).size === listed.length, { message: "names a provider twice" })
    .default(names);

/** A key as it goes into a header. */
const secret = () => z.string().regex(/^[\x21-\x7e]{8,}$/, { message: "must be 8 or more printable characters" });

/** Where a provider is reached: https, or http on this machine alone, since keys go there. Without a final slash. */
const baseUrl = () =>
  z
    .url({ protocol: /^https?$/ })
    .refine((text) => !/[?#@]/.test(text), { message: "must have no user, query or fragment" })
    .refine((text) => text.startsWith("https:") || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(`${text}/`), {
      message: "must begin with https://",
    })
    .transform((text) => text.replace(/\/+$/, ""));

/** The variables of live providers. One without credentials is absent. */
export const providersSection = {
  /** Who answers sam_registration, in this order. */
  SAM_REGISTRATION_PROVIDERS: order("sam_gov_api", "sam_gov_extract"),
  /** Key of SAM.gov's public APIs; without it `sam_gov_api` is absent. It lives 90 days. */
  SAM_GOV_API_KEY: secret().optional(),
  /** The day it was issued, YYYY-MM-DD, for the metric of its age. */
  SAM_GOV_KEY_ISSUED_ON: z.iso.date().optional(),
  SAM_GOV_BASE_URL: baseUrl().default("https://api.sam.gov"),
  /** Version of the Entity Management API. */
  SAM_GOV_ENTITY_VERSION: z.enum(["v3", "v4"]).default("v3"),
  /** Calls a day that the key's account has (10, 1,000 or 10,000), all replicas together; unknown where absent. */
  SAM_GOV_DAILY_QUOTA: count(1).optional(),
  /** Milliseconds that scheduled runs wait for others to share a call with; 0 shares with those of the same instant. */
  SAM_GOV_GATHER_MS: count().max(5_000).default(250),
  /** Take servers without secure renegotiation, should SAM.gov's be such. */
  SAM_GOV_LEGACY_TLS: flag().default(false),
  /** Who answers tin_match, in this order. */
  TIN_MATCH_PROVIDERS: order("taxbandits", "compliancely"),
  /** TaxBandits' developer console gives an account this and the next two; without all three `taxbandits` is absent. */
  TAXBANDITS_CLIENT_ID: secret().optional(),
  TAXBANDITS_CLIENT_SECRET: secret().optional(),
  TAXBANDITS_USER_TOKEN: secret().optional(),
  /** TaxBandits' authentication server, as documented. Its sandbox's: https://testoauth.expressauth.net/v2/tbsauth. */
  TAXBANDITS_AUTH_URL: baseUrl().default("https://oauth.expressauth.net/v2/tbsauth"),
  /**
   * TaxBandits' API with the version in its path. The documentation names the sandbox's alone,
   * https://testapi.taxbandits.com/v1.7.3; this is inferred from it, so confirm it with the vendor.
   */
  TAXBANDITS_BASE_URL: baseUrl().default("https://api.taxbandits.com/v1.7.3"),
  /** Key of Compliancely's API; without it `compliancely` is absent. */
  COMPLIANCELY_API_KEY: secret().optional(),
  /** Compliancely's API, as documented. Its sandbox's: https://sandbox.compliancely.com. */
  COMPLIANCELY_BASE_URL: baseUrl().default("https://app1.compliancely.com"),
};

export type ProvidersConfig = z.infer<z.ZodObject<typeof providersSection>>;

/** Calls a day by provider, where one is configured. */
export function dailyQuotas(config: ProvidersConfig): Readonly<Record<string, number>> {
  return { ...(config.SAM_GOV_DAILY_QUOTA && { sam_gov_api: config.SAM_GOV_DAILY_QUOTA }) };
}

/** TaxBandits' credentials; undefined where there are none. Errors: ConfigError where some are missing. */
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
