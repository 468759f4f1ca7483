import { randomUUID } from "node:crypto";
import {
  ConfigError,
  count,
  environmentWithLocalRun,
  flag,
  keyRing,
  loadConfig,
  port,
  serviceSection,
  z,
} from "@vvs/config";
import { callsSection } from "@vvs/fair-queue";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";
import type { Environment } from "@vvs/tenant";
import type { EvidenceSettings } from "./evidence/open.ts";
import type { S3Options } from "./evidence/s3-objects.ts";
import type { KeptDays } from "./kept-until.ts";
import { defaultCircuitSettings } from "./provider-health/circuit.ts";
import { providersSection } from "./providers/config.ts";
import type { RunSlots } from "./runs/run-consumers.ts";
import type { QueueSettings } from "./sam-gov-queue/queue.ts";

/** Longer than dead letters are kept, so that a record that is put back finds what it was about. */
const LEAST_KEPT_DAYS = 31;

/** The numbers of the sandbox's runs that may be in flight. */
const SANDBOX_SLOTS: RunSlots = { runs: 32, tinRuns: 16 };

/** The variables of the evidence stores. */
const evidenceSection = {
  /** The store for new content of evidence. Existing content is read from the store that holds it. */
  EVIDENCE_STORE: z.enum(["mongodb", "s3"]).default("mongodb"),
  /** URL of an S3-compatible store; AWS S3 where absent. */
  EVIDENCE_S3_ENDPOINT: z.url().optional(),
  EVIDENCE_S3_REGION: z.string().default("us-east-1"),
  /** Required with EVIDENCE_STORE=s3. Set it as well to read content in it with EVIDENCE_STORE=mongodb. */
  EVIDENCE_S3_BUCKET: z.string().optional(),
  /** Prefix of the key of each object, such as `vvs/`. */
  EVIDENCE_S3_PREFIX: z.string().default(""),
  /** Set both or neither. Without them, the AWS client uses a role of the pod or the machine. */
  EVIDENCE_S3_ACCESS_KEY_ID: z.string().optional(),
  EVIDENCE_S3_SECRET_ACCESS_KEY: z.string().optional(),
  /** Use https://host/bucket/key instead of https://bucket.host/key, as most compatible stores require. */
  EVIDENCE_S3_PATH_STYLE: flag().default(false),
  /** Time limit for one operation on the store with its retry, in milliseconds. */
  EVIDENCE_S3_TIMEOUT_MS: count(1).default(5_000),
};

const schema = z.object({
  ...evidenceSection,
  /** Days for which verifications are kept that realtime calls asked for, that failed, and first runs of monitors. */
  VERIFICATIONS_KEPT_DAYS: count(LEAST_KEPT_DAYS).default(2_557),
  /** Days for which others are kept: of cached calls, without an answer, and later runs of monitors. */
  REPEATED_VERIFICATIONS_KEPT_DAYS: count(LEAST_KEPT_DAYS).default(400),
  /** Minimum number of days for which all of them are kept with their evidence; 0: the two above apply. */
  EVIDENCE_RETENTION_DAYS: count().default(0),
  /** Days for which verifications of the sandbox's runs are kept. */
  SANDBOX_KEPT_DAYS: count(1).default(14),
  /** Maximum number of sandbox runs of an organization that are kept; beyond it the oldest go, but none younger than a day. */
  SANDBOX_KEPT_VERIFICATIONS: count(1).default(10_000),
  /** Key ring that signs receipts. Keep replaced keys in it: it publishes what receipts are checked with. Without it there are none. */
  RECEIPT_KEYS: keyRing().default([]),
  ...serviceSection,
  ...mongoSection,
  ...rpcSection,
  ...callsSection,
  ...kafkaSection,
  /** Address the gRPC server binds to; without TLS, only a loopback address is allowed. */
  RPC_HOST: z.string().default("127.0.0.1"),
  /** Port of the gRPC server; 0 takes any free one. */
  RPC_PORT: port().default(50053),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** host:port of the monitor service. */
  MONITOR_ADDRESS: z.string().default("127.0.0.1:50054"),
  /** host:port of the account service, or of its keys part, which knows the settings of organizations. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** Time limit for one attempt at one provider, in milliseconds; after it, the next provider is asked. */
  PROVIDER_TIMEOUT_MS: count(1).default(9_000),
  /** Length of the first opening of a provider's circuit, in milliseconds; each failed probe doubles it. */
  CIRCUIT_OPEN_MS: count(1).default(defaultCircuitSettings.openMs),
  ...providersSection,
  /** Maximum number of TINs that did not match, of one vendor or of one name, within 24 hours. */
  TIN_GUESSES_PER_VENDOR: count(1).default(5),
  /** Maximum number of live monitor runs without tin_match in flight; LIVE_TIN_RUNS_AT_ONCE is for the others. */
  LIVE_RUNS_AT_ONCE: count(1).default(64),
});

/** Loads this service's variables. Errors: ConfigError. */
export const loadVerificationConfig = () => checkEvidence(loadConfig(schema, process.env));

/** Loads the variables of the evidence command, which finds a local run by itself. Errors: ConfigError. */
export const loadEvidenceConfig = () =>
  checkEvidence(
    loadConfig(z.object({ ...mongoSection, ...evidenceSection }), environmentWithLocalRun(process.env, process.cwd())),
  );

type EvidenceConfig = z.infer<z.ZodObject<typeof evidenceSection>>;

function checkEvidence<C extends EvidenceConfig>(config: C): C {
  if (config.EVIDENCE_STORE === "s3" && !config.EVIDENCE_S3_BUCKET) {
    throw new ConfigError("EVIDENCE_S3_BUCKET: is required with EVIDENCE_STORE=s3");
  }
  if (!config.EVIDENCE_S3_ACCESS_KEY_ID !== !config.EVIDENCE_S3_SECRET_ACCESS_KEY) {
    throw new ConfigError("EVIDENCE_S3_ACCESS_KEY_ID and EVIDENCE_S3_SECRET_ACCESS_KEY: are needed together");
  }
  return config;
}

/** Returns where evidence is stored. */
export function evidenceSettings(config: z.infer<typeof schema>): EvidenceSettings {
  return {
    store: config.EVIDENCE_STORE,
    s3: s3Options(config),
    keyPrefix: config.EVIDENCE_S3_PREFIX,
  };
}

/** Returns how long verifications are kept with their evidence. */
export function keptDays(config: z.infer<typeof schema>): KeptDays {
  return {
    lasting: config.VERIFICATIONS_KEPT_DAYS,
    repeated: config.REPEATED_VERIFICATIONS_KEPT_DAYS,
    sandboxRuns: config.SANDBOX_KEPT_DAYS,
    least: config.EVIDENCE_RETENTION_DAYS,
  };
}

/** Returns the object store's options; undefined where none is configured. */
export function s3Options(config: EvidenceConfig): S3Options | undefined {
  const { EVIDENCE_S3_BUCKET: bucket } = config;
  const { EVIDENCE_S3_ACCESS_KEY_ID: accessKeyId, EVIDENCE_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  return bucket === undefined
    ? undefined
    : {
        endpoint: config.EVIDENCE_S3_ENDPOINT,
        region: config.EVIDENCE_S3_REGION,
        bucket,
        credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
        pathStyle: config.EVIDENCE_S3_PATH_STYLE,
        timeoutMs: config.EVIDENCE_S3_TIMEOUT_MS,
      };
}

/** Returns the numbers of monitors' runs that may be in flight in each environment. */
export function runSlots(config: z.infer<typeof schema>): Readonly<Record<Environment, RunSlots>> {
  return {
    live: { runs: config.LIVE_RUNS_AT_ONCE, tinRuns: config.LIVE_TIN_RUNS_AT_ONCE },
    sandbox: SANDBOX_SLOTS,
  };
}

/** Returns the settings of the queue of SAM.gov's API. */
export function queueSettings(config: z.infer<typeof schema>): QueueSettings {
  return {
    gatherMs: config.SAM_GOV_GATHER_SECONDS * 1_000,
    slots: runSlots(config).live,
    owner: randomUUID(),
  };
}
