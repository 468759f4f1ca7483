import { environmentWithLocalRun, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";

const storeSection = {
  ...mongoSection,
  /** Peppers of API key hashes, the newest first; gateways have the same. Keys made with one that is gone are lost. */
  API_KEY_PEPPERS: keyRing(),
  /** Keys that seal webhook secrets and the secrets of authenticator apps, the newest first; held by this service alone. */
  WEBHOOK_SECRET_KEYS: keyRing(),
};

export type AccountConfig = ReturnType<typeof loadAccountConfig>;

/** The service's configuration. Errors: ConfigError. */
export const loadAccountConfig = () =>
  loadConfig(
    z.object({
      ...serviceSection,
      ...storeSection,
      ...rpcSection,
      /** Address the gRPC server binds to; without TLS, loopback only. */
      RPC_HOST: z.string().default("127.0.0.1"),
      /** Its port. */
      RPC_PORT: port().default(50_051),
    }),
    process.env,
  );

/** What the operator's command needs: variables, or those of the local run in this folder. Errors: ConfigError. */
export const loadAdminConfig = () =>
  loadConfig(z.object(storeSection), environmentWithLocalRun(process.env, process.cwd()));
