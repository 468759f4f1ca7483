import type { Logger } from "@vvs/logging";
import { observeKeyAge } from "../metrics.ts";
import { createCompliancely } from "./compliancely.ts";
import { countedCalls } from "./counted-calls.ts";
import type { Provider } from "./provider.ts";
import { type ProvidersConfig, taxBanditsCredentials } from "./provider-config.ts";
import { createProviderHttp } from "./provider-http.ts";
import type { RegistryReader } from "./registry-reader.ts";
import { createSamGovClient } from "./sam-gov/client.ts";
import { createSamGovApi } from "./sam-gov/sam-gov-api.ts";
import { createSamGovExtract } from "./sam-gov-extract.ts";
import { createTaxBandits } from "./taxbandits.ts";

/** Connections kept to each provider. */
const CONNECTIONS = 16;
const USER_AGENT = "vendor-verification-service";

export interface LiveProvidersOptions {
  readonly config: ProvidersConfig;
  readonly entities: RegistryReader;
  /** Counts a call into a provider's quota before it is made. Errors: ProviderError where none is left. */
  readonly takeCall: (provider: string) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Takes what is to be closed when the service ends. */
  readonly onClose: (name: string, close: () => unknown) => void;
}

/** The live providers that the configuration names and has credentials for, in the order they are asked. */
export function createLiveProviders(options: LiveProvidersOptions): Provider[] {
  const { config, logger } = options;
  const made: Readonly<Record<string, Provider | undefined>> = {
    sam_gov_api: samGovApi(options),
    sam_gov_extract: createSamGovExtract(options),
    taxbandits: taxBandits(options),
    compliancely: compliancely(options),
  };
  const listed = [...config.SAM_REGISTRATION_PROVIDERS, ...config.TIN_MATCH_PROVIDERS];
  const on = listed.flatMap((name) => made[name] ?? []);
  const namesOf = (check: Provider["check"]) => on.filter((each) => each.check === check).map(({ name }) => name);
  logger.info(
    {
      sam_registration: namesOf("sam_registration"),
      tin_match: namesOf("tin_match"),
      without_credentials: listed.filter((name) => !made[name]),
    },
    "live providers, in the order they are asked",
  );
  return on;
}

function samGovApi({ config, takeCall, now, logger, onClose }: LiveProvidersOptions): Provider | undefined {
  const apiKey = config.SAM_GOV_API_KEY;
  if (!apiKey || !config.SAM_REGISTRATION_PROVIDERS.includes("sam_gov_api")) return undefined;
  const http = createProviderHttp({
    connections: CONNECTIONS,
    userAgent: USER_AGENT,
    legacyTls: config.SAM_GOV_LEGACY_TLS,
  });
  onClose("SAM.gov connections", () => http.close());
  if (config.SAM_GOV_KEY_ISSUED_ON) {
    const issuedOn = new Date(`${config.SAM_GOV_KEY_ISSUED_ON}T00:00:00Z`);
    onClose("SAM.gov key's age", observeKeyAge({ provider: "sam_gov_api", issuedOn, now }));
  }
  const client = createSamGovClient({
    http: countedCalls(http, () => takeCall("sam_gov_api")),
    baseUrl: config.SAM_GOV_BASE_URL,
    entityVersion: config.SAM_GOV_ENTITY_VERSION,
    apiKey,
    now,
    logger,
  });
  return createSamGovApi({ client, gatherMs: config.SAM_GOV_GATHER_MS, now });
}

function taxBandits({ config, now, onClose }: LiveProvidersOptions): Provider | undefined {
  const credentials = taxBanditsCredentials(config);
  if (!credentials || !config.TIN_MATCH_PROVIDERS.includes("taxbandits")) return undefined;
  const http = createProviderHttp({ connections: CONNECTIONS, userAgent: USER_AGENT });
  onClose("TaxBandits connections", () => http.close());
  const { TAXBANDITS_AUTH_URL: authUrl, TAXBANDITS_BASE_URL: baseUrl } = config;
  return createTaxBandits({ http, authUrl, baseUrl, credentials, now });
}

function compliancely({ config, now, onClose }: LiveProvidersOptions): Provider | undefined {
  const { COMPLIANCELY_API_KEY: apiKey, COMPLIANCELY_BASE_URL: baseUrl } = config;
  if (!apiKey || !config.TIN_MATCH_PROVIDERS.includes("compliancely")) return undefined;
  const http = createProviderHttp({ connections: CONNECTIONS, userAgent: USER_AGENT });
  onClose("Compliancely connections", () => http.close());
  return createCompliancely({ http, baseUrl, apiKey, now });
}
