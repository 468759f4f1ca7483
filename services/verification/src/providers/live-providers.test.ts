import { describe, expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { atEnd, captureLogs } from "@vvs/testing";
import { type ProvidersConfig, providerAccounts, providersSection } from "./config.ts";
import { createLiveProviders } from "./live-providers.ts";

const KEY = "SAM-a-key-0123456789";
const TAXBANDITS = {
  TAXBANDITS_CLIENT_ID: "client-0123456789",
  TAXBANDITS_CLIENT_SECRET: "secret-0123456789",
  TAXBANDITS_USER_TOKEN: "token-0123456789",
};
const COMPLIANCELY = { COMPLIANCELY_API_KEY: "compliancely-0123456789" };
const load = (env: NodeJS.ProcessEnv): ProvidersConfig => loadConfig(z.object(providersSection), env);

/** Starts the providers; returns their names and the start log. */
function start(env: NodeJS.ProcessEnv) {
  const { logger, lines } = captureLogs("info");
  const on = createLiveProviders({
    config: load(env),
    entities: { getRegistryRecord: () => Promise.reject(new Error("not called")) },
    takeCall: async () => undefined,
    now: () => new Date(),
    logger,
    onClose: (_name, close) => void atEnd(close),
  });
  return { names: on.map(({ name }) => name), lines };
}

describe("live providers", () => {
  test.each<[string, NodeJS.ProcessEnv, string[]]>([
    ["a provider without credentials is not used", {}, ["sam_gov_extract"]],
    ["a provider with credentials is asked in order", { SAM_GOV_API_KEY: KEY }, ["sam_gov_api", "sam_gov_extract"]],
    [
      "the order is the configured one",
      { SAM_GOV_API_KEY: KEY, SAM_REGISTRATION_PROVIDERS: "sam_gov_extract, sam_gov_api" },
      ["sam_gov_extract", "sam_gov_api"],
    ],
    [
      "a provider that is not listed is not used",
      { SAM_GOV_API_KEY: KEY, SAM_REGISTRATION_PROVIDERS: "sam_gov_extract" },
      ["sam_gov_extract"],
    ],
    [
      "TIN providers with credentials are asked in order",
      { ...COMPLIANCELY, ...TAXBANDITS },
      ["sam_gov_extract", "taxbandits", "compliancely"],
    ],
    ["only one TIN provider", COMPLIANCELY, ["sam_gov_extract", "compliancely"]],
    [
      "the order of TIN providers is the configured one",
      { ...COMPLIANCELY, ...TAXBANDITS, TIN_MATCH_PROVIDERS: "compliancely,taxbandits" },
      ["sam_gov_extract", "compliancely", "taxbandits"],
    ],
    [
      "a TIN provider that is not listed is not used",
      { ...COMPLIANCELY, ...TAXBANDITS, TIN_MATCH_PROVIDERS: "compliancely" },
      ["sam_gov_extract", "compliancely"],
    ],
  ])("%s", (_name, env, names) => {
    expect(start(env).names).toEqual(names);
  });

  test("the start log lists the providers in use and those without credentials, and holds no key", () => {
    const without_credentials = ["sam_gov_api", "taxbandits", "compliancely"];
    expect(start({}).lines).toMatchObject([
      { sam_registration: ["sam_gov_extract"], tin_match: [], without_credentials },
    ]);
    const credentials = { SAM_GOV_API_KEY: KEY, ...TAXBANDITS, ...COMPLIANCELY };
    const { lines } = start({ ...credentials, SAM_GOV_KEY_ISSUED_ON: "2026-10-01" });
    expect(lines).toMatchObject([
      {
        sam_registration: ["sam_gov_api", "sam_gov_extract"],
        tin_match: ["taxbandits", "compliancely"],
        without_credentials: [],
      },
    ]);
    for (const secret of Object.values(credentials)) expect(JSON.stringify(lines)).not.toContain(secret);
  });
});

test.each(Object.keys(TAXBANDITS))(
  "TaxBandits' credentials without %s are refused, and the error holds none of them",
  (name) => {
    const [first, second] = Object.entries(TAXBANDITS).filter(([each]) => each !== name);
    expect(() => start(Object.fromEntries([first!, second!]))).toThrow(
      /^TAXBANDITS_CLIENT_ID, TAXBANDITS_CLIENT_SECRET and TAXBANDITS_USER_TOKEN: are needed together$/,
    );
  },
);

describe("their variables", () => {
  test.each<[string, NodeJS.ProcessEnv]>([
    ["an unknown provider", { SAM_REGISTRATION_PROVIDERS: "sam_gov_api,sam" }],
    ["a provider twice", { SAM_REGISTRATION_PROVIDERS: "sam_gov_api,sam_gov_api" }],
    ["a key that is too short", { SAM_GOV_API_KEY: "short" }],
    ["a key that breaks a header", { SAM_GOV_API_KEY: "SAM-a-key\r\nX: y" }],
    ["a key in the base URL", { SAM_GOV_BASE_URL: "https://api.sam.gov?api_key=x" }],
    ["a user in the base URL", { SAM_GOV_BASE_URL: "https://user:pass@api.sam.gov" }],
    ["keys sent unencrypted to another machine", { SAM_GOV_BASE_URL: "http://api.sam.gov" }],
    ["another host whose name starts like this machine's", { SAM_GOV_BASE_URL: "http://127.0.0.1.example.com" }],
    ["an unsupported version", { SAM_GOV_ENTITY_VERSION: "v2" }],
    ["a day that does not exist", { SAM_GOV_KEY_ISSUED_ON: "2026-02-30" }],
    ["a quota of zero", { SAM_GOV_DAILY_QUOTA: "0" }],
    ["a provider of another check", { TIN_MATCH_PROVIDERS: "taxbandits,sam_gov_api" }],
    ["a TIN provider without TLS", { COMPLIANCELY_BASE_URL: "http://app1.compliancely.com" }],
    ["runs that wait too long for each other", { SAM_GOV_GATHER_SECONDS: "86401" }],
  ])("%s is refused", (_name, env) => {
    expect(() => load(env)).toThrow();
  });

  test("have defaults", () => {
    expect(load({})).toMatchObject({
      SAM_REGISTRATION_PROVIDERS: ["sam_gov_api", "sam_gov_extract"],
      SAM_GOV_BASE_URL: "https://api.sam.gov",
      SAM_GOV_ENTITY_VERSION: "v3",
      TIN_MATCH_PROVIDERS: ["taxbandits", "compliancely"],
      COMPLIANCELY_BASE_URL: "https://app1.compliancely.com",
    });
    expect(load({ SAM_GOV_BASE_URL: "http://127.0.0.1:8099/" }).SAM_GOV_BASE_URL).toBe("http://127.0.0.1:8099");
  });

  test("a key is known by a fingerprint that does not reveal it, and another key has another one", () => {
    expect(providerAccounts(load({ SAM_GOV_DAILY_QUOTA: "1000" }))).toEqual({});
    const { sam_gov_api: account } = providerAccounts(load({ SAM_GOV_API_KEY: KEY, SAM_GOV_DAILY_QUOTA: "1000" }));
    expect(account).toEqual({ fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/), quota: 1_000 });
    const other = providerAccounts(load({ SAM_GOV_API_KEY: `${KEY}0` })).sam_gov_api!;
    expect(other.quota).toBeUndefined();
    expect(other.fingerprint).not.toBe(account!.fingerprint);
  });
});
