import { count, environmentWithLocalRun, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";

const tinKeys = {
  /** Key ring that seals TINs; this service and its commands alone may hold it. */
  TIN_KEYS: keyRing(),
  /** Key ring that hashes TINs, so that they are found without being opened. */
  TIN_HASH_KEYS: keyRing(),
};

/** The variables of the service. Errors: ConfigError with all problems at once. */
export const loadEntityConfig = () =>
  loadConfig(
    z.object({
      ...serviceSection,
      ...mongoSection,
      ...rpcSection,
      /** Address the gRPC server binds to; other than loopback only with TLS. */
      RPC_HOST: z.string().default("127.0.0.1"),
      /** Its port; 0 takes any free one. */
      RPC_PORT: port().default(50_052),
      ...tinKeys,
      /** Entities that one organization may create in the sandbox; 0 forbids it. */
      SANDBOX_ENTITY_CAP: count().default(10_000),
    }),
    process.env,
  );

/** The variables of the registry command, which finds a local run by itself. Errors: ConfigError. */
export const loadRegistryConfig = () =>
  loadConfig(z.object(mongoSection), environmentWithLocalRun(process.env, process.cwd()));

/** The variables of the command that rotates TIN keys, which finds a local run by itself. Errors: ConfigError. */
export const loadTinsConfig = () =>
  loadConfig(z.object({ ...mongoSection, ...tinKeys }), environmentWithLocalRun(process.env, process.cwd()));

/** The variables of the command that downloads registry files. Errors: ConfigError. */
export const loadDownloadConfig = () =>
  loadConfig(
    z.object({
      /** Key of SAM.gov, as the verification service has one; 90 days valid. */
      SAM_GOV_API_KEY: z.string().regex(/^[\x21-\x7e]{8,}$/, { message: "must be 8 or more printable characters" }),
      /** Where SAM.gov is reached: https, or http on this machine alone, since the key goes there. */
      SAM_GOV_BASE_URL: z
        .url({ protocol: /^https?$/ })
        .refine(
          (text) => text.startsWith("https:") || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(`${text}/`),
          {
            message: "must begin with https://",
          },
        )
        .transform((text) => text.replace(/\/+$/, ""))
        .default("https://api.sam.gov"),
    }),
    environmentWithLocalRun(process.env, process.cwd()),
  );
