import { type Check, checkNames } from "@vvs/checks";
import type { Logger } from "@vvs/logging";
import { observeKeyAge } from "../metrics.ts";
import { createCompliancely } from "./compliancely/compliancely.ts";
import { type LiveProviderName, type ProvidersConfig, providerOrder, taxBanditsCredentials } from "./config.ts";
import { countedCalls } from "./http/counted-calls.ts";
import { createProviderHttp } from "./http/provider-http.ts";
import type { Provider } from "./provider.ts";
import { createSamGovClient } from "./sam-gov/client.ts";
import type { RegistryReader } from "./sam-gov/registry-reader.ts";
import { createSamGovApi } from "./sam-gov/sam-gov-api.ts";
import { createSamGovExtract } from "./sam-gov/sam-gov-extract.ts";
import { createTaxBandits } from "./taxbandits/taxbandits.ts";

/** Connections kept open to each provider. */
const CONNECTIONS = 16;
const USER_AGENT = "vendor-verification-service";

export interface LiveProvidersOptions {
  readonly config: ProvidersConfig;
  readonly entities: RegistryReader;
  /** Counts a call against the provider's quota before the call is made. Errors: ProviderError where the quota is used up. */
  readonly takeCall: (provider: string) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Registers what must be closed when the service stops. */
  readonly onClose: (name: string, close: () => unknown) => void;
}

/** Creates the live providers that the configuration names and has credentials for, in the order they are asked. */
export function createLiveProviders(options: LiveProvidersOptions): Provider[] {
  const { config, logger } = options;
  const available: Readonly<Record<LiveProviderName, Provider | undefined>> = {
    sam_gov_api: samGovApi(options),
    sam_gov_extract: createSamGovExtract({ ...options, hasApi: hasSamGovApi(config) }),
    taxbandits: taxBandits(options),
    compliancely: compliancely(options),
  };
  const order = providerOrder(config);
  const listed = checkNames.flatMap((check): LiveProviderName[] => order[check]);
  const enabled = (check: Check) => order[check].filter((name) => available[name]);
  logger.info(
    {
      ...Object.fromEntries(checkNames.map((check) => [check, enabled(check)])),
      without_credentials: listed.filter((name) => !available[name]),
    },
    "live providers, in the order they are asked",
  );
  return listed.flatMap((name) => available[name] ?? []);
}

function hasSamGovApi({ SAM_GOV_API_KEY, SAM_REGISTRATION_PROVIDERS }: ProvidersConfig): boolean {
  return SAM_GOV_API_KEY !== undefined && SAM_REGISTRATION_PROVIDERS.includes("sam_gov_api");
}

function samGovApi({ config, entities, takeCall, now, logger, onClose }: LiveProvidersOptions): Provider | undefined {
  const apiKey = config.SAM_GOV_API_KEY;
  if (!apiKey || !hasSamGovApi(config)) return undefined;
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
  return createSamGovApi({ client, entities, gatherMs: config.SAM_GOV_GATHER_MS, now });
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
