import { checkNames } from "@vvs/checks";
import type { Logger } from "@vvs/logging";
import { observeKeyAge } from "../metrics.ts";
import type { CallClass } from "./call-class.ts";
import { createCompliancely } from "./compliancely/compliancely.ts";
import { type LiveProviderName, type ProvidersConfig, providerOrder, taxBanditsCredentials } from "./config.ts";
import { createProviderHttp } from "./http/provider-http.ts";
import type { Provider } from "./provider.ts";
import { createSamGovClient } from "./sam-gov/client.ts";
import type { RegistryReader } from "./sam-gov/registry-reader.ts";
import { createSamGovApi } from "./sam-gov/sam-gov-api.ts";
import { createSamGovExtract } from "./sam-gov/sam-gov-extract.ts";
import { createTaxBandits } from "./taxbandits/taxbandits.ts";

export interface LiveProvidersOptions {
  readonly config: ProvidersConfig;
  readonly entities: RegistryReader;
  /** Counts an HTTP call of a class before it is made. Errors: ProviderError where the class has no calls left today. */
  readonly takeCall: (provider: string, callClass: CallClass) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Registers what must be closed when the service stops. */
  readonly onClose: (name: string, close: () => unknown) => void;
}

/** Creates the live providers that the configuration names and has credentials for, in the order they are asked. */
export function createLiveProviders(options: LiveProvidersOptions): Provider[] {
  const { config, logger } = options;
  const order = providerOrder(config);
  const listed = checkNames.flatMap((check): LiveProviderName[] => order[check]);
  const providers = listed.flatMap((name) => create[name](options) ?? []);
  const enabled = new Set<string>(providers.map(({ name }) => name));
  logger.info(
    {
      ...Object.fromEntries(checkNames.map((check) => [check, order[check].filter((name) => enabled.has(name))])),
      without_credentials: listed.filter((name) => !enabled.has(name)),
    },
    "live providers, in the order they are asked",
  );
  if (!enabled.has("sam_gov_api") || enabled.has("sam_gov_extract")) return providers;
  // Later runs of monitors never ask the API themselves, so they need what is known from other sources.
  return [...providers, createSamGovExtract({ ...options, hasApi: true, laterRuns: "only" })];
}

/** Creates each provider; undefined where it lacks credentials. */
const create: Readonly<Record<LiveProviderName, (options: LiveProvidersOptions) => Provider | undefined>> = {
  sam_gov_api: samGovApi,
  sam_gov_extract({ config, entities, now }) {
    const hasApi = config.SAM_GOV_API_KEY !== undefined && config.SAM_REGISTRATION_PROVIDERS.includes("sam_gov_api");
    return createSamGovExtract({ entities, hasApi, now });
  },
  taxbandits({ config, now, onClose }) {
    const credentials = taxBanditsCredentials(config);
    if (!credentials) return undefined;
    const http = createProviderHttp({ slowRuns: config.LIVE_TIN_RUNS_AT_ONCE });
    onClose("TaxBandits connections", () => http.close());
    const { TAXBANDITS_AUTH_URL: authUrl, TAXBANDITS_BASE_URL: baseUrl } = config;
    return createTaxBandits({ http, authUrl, baseUrl, credentials, now });
  },
  compliancely({ config, now, onClose }) {
    const { COMPLIANCELY_API_KEY: apiKey, COMPLIANCELY_BASE_URL: baseUrl } = config;
    if (!apiKey) return undefined;
    const http = createProviderHttp({ slowRuns: config.LIVE_TIN_RUNS_AT_ONCE });
    onClose("Compliancely connections", () => http.close());
    return createCompliancely({ http, baseUrl, apiKey, now });
  },
};

function samGovApi({ config, entities, takeCall, now, logger, onClose }: LiveProvidersOptions): Provider | undefined {
  const apiKey = config.SAM_GOV_API_KEY;
  if (!apiKey) return undefined;
  const http = createProviderHttp({ legacyTls: config.SAM_GOV_LEGACY_TLS });
  onClose("SAM.gov connections", () => http.close());
  if (config.SAM_GOV_KEY_ISSUED_ON) {
    const issuedOn = new Date(`${config.SAM_GOV_KEY_ISSUED_ON}T00:00:00Z`);
    onClose("SAM.gov key's age", observeKeyAge({ provider: "sam_gov_api", issuedOn, now }));
  }
  const clientOf = (callClass: CallClass, onCall?: () => Promise<void>) =>
    createSamGovClient({
      http: {
        async call(call) {
          await takeCall("sam_gov_api", callClass);
          await onCall?.();
          return http.call(call);
        },
      },
      baseUrl: config.SAM_GOV_BASE_URL,
      entityVersion: config.SAM_GOV_ENTITY_VERSION,
      apiKey,
      now,
      logger,
    });
  return createSamGovApi({ clientOf, entities, now });
}
