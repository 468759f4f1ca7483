import { count, environmentWithLocalRun, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { callsSection } from "@vvs/fair-queue";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";

const tinKeys = {
  /** Key ring that seals TINs; only this service and its commands may have it. */
  TIN_KEYS: keyRing(),
  /** Key ring that hashes TINs, so that they can be found without being opened. */
  TIN_HASH_KEYS: keyRing(),
};

/** Loads the variables of the service. Errors: ConfigError with all problems. */
export const loadEntityConfig = () =>
  loadConfig(
    z.object({
      ...serviceSection,
      ...mongoSection,
      ...kafkaSection,
      ...rpcSection,
      ...callsSection,
      /** Fewer than elsewhere, because look-ups and lists mostly use the processor, and all take turns on one. */
      CALL_SEATS: count(1).default(16),
      /** Address of the gRPC server; must be loopback unless TLS is configured. */
      RPC_HOST: z.string().default("127.0.0.1"),
      /** Port of the gRPC server; 0 takes any free one. */
      RPC_PORT: port().default(50_052),
      ...tinKeys,
      /** How long a starting process is unready at most while it builds its first name index, in seconds. */
      NAME_INDEX_WAIT_SECONDS: count().default(120),
      /** Maximum number of entities that one organization can create in the sandbox; 0 forbids it. */
      SANDBOX_ENTITY_CAP: count().default(10_000),
    }),
    process.env,
  );

/** Loads the variables of the registry command, which finds a local run by itself. Errors: ConfigError. */
export const loadRegistryConfig = () =>
  loadConfig(z.object(mongoSection), environmentWithLocalRun(process.env, process.cwd()));

/** Loads the variables of the command that rotates TIN keys, which finds a local run by itself. Errors: ConfigError. */
export const loadTinsConfig = () =>
  loadConfig(z.object({ ...mongoSection, ...tinKeys }), environmentWithLocalRun(process.env, process.cwd()));

/** Loads the variables of the command that downloads registry files. Errors: ConfigError. */
export const loadDownloadConfig = () =>
  loadConfig(
    z.object({
      /** API key of SAM.gov, valid for 90 days. */
      SAM_GOV_API_KEY: z.string().regex(/^[\x21-\x7e]{8,}$/, { message: "must be 8 or more printable characters" }),
      /** Address of SAM.gov: https, or http only on this machine, because the key is sent there. */
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
