import { ConfigError, count, environmentWithLocalRun, flag, loadConfig, port, serviceSection, z } from "@vvs/config";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";
import type { TimeLimits } from "./conclude.ts";
import type { EvidenceSettings } from "./evidence/open.ts";
import type { S3Options } from "./evidence/s3-objects.ts";
import { type CircuitSettings, defaultCircuitSettings } from "./providers/circuit.ts";
import { providersSection } from "./providers/provider-config.ts";

/** Where evidence is kept. */
const evidenceSection = {
  /** Where new content of evidence goes; what is there already is read from where it is. */
  EVIDENCE_STORE: z.enum(["mongodb", "s3"]).default("mongodb"),
  /** URL of an S3-compatible store; AWS's own where absent. */
  EVIDENCE_S3_ENDPOINT: z.url().optional(),
  EVIDENCE_S3_REGION: z.string().default("us-east-1"),
  /** Needed with EVIDENCE_STORE=s3. Where it is set, content in it is read also with EVIDENCE_STORE=mongodb. */
  EVIDENCE_S3_BUCKET: z.string().optional(),
  /** Before the key of each object, such as `vvs/`. */
  EVIDENCE_S3_PREFIX: z.string().default(""),
  /** Both, or neither: then a role of the pod or the machine is used, as the AWS client finds it. */
  EVIDENCE_S3_ACCESS_KEY_ID: z.string().optional(),
  EVIDENCE_S3_SECRET_ACCESS_KEY: z.string().optional(),
  /** https://host/bucket/key instead of https://bucket.host/key, as most compatible stores need it. */
  EVIDENCE_S3_PATH_STYLE: flag().default(false),
  /** Milliseconds that one operation on the store may take, with its second try. */
  EVIDENCE_S3_TIMEOUT_MS: count(1).default(5_000),
};

const schema = z.object({
  ...evidenceSection,
  /** Days after which evidence is removed; 0 keeps it for ever. */
  EVIDENCE_RETENTION_DAYS: count().default(0),
  ...serviceSection,
  ...mongoSection,
  ...rpcSection,
  ...kafkaSection,
  /** Address the gRPC server binds to; plaintext binds to loopback alone. */
  RPC_HOST: z.string().default("127.0.0.1"),
  /** Its port; 0 takes any free one. */
  RPC_PORT: port().default(50053),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** Milliseconds that all checks of one call may take together. What is left of the call's 25 s is for the stores. */
  CALL_TIMEOUT_MS: count(1).default(23_000),
  /** Milliseconds that one check may take, whatever providers it asks. */
  CHECK_TIMEOUT_MS: count(1).default(20_000),
  /** Milliseconds after which a provider counts as silent and the next one is asked. */
  PROVIDER_TIMEOUT_MS: count(1).default(9_000),
  /** Faults in a row that open a provider's circuit. */
  CIRCUIT_FAULTS_IN_ROW: count(1).default(defaultCircuitSettings.faultsInRow),
  /** Share of faults among a minute's attempts (0–1, 20 attempts at least) that opens it; 1 opens it when all fail. */
  CIRCUIT_FAULT_SHARE: z.coerce.number().gt(0).max(1).default(defaultCircuitSettings.faultShare),
  /** Milliseconds that the first opening lasts; each failed probe doubles it. */
  CIRCUIT_OPEN_MS: count(1).default(defaultCircuitSettings.openMs),
  /** Milliseconds that the longest opening lasts. */
  CIRCUIT_OPEN_MAX_MS: count(1).default(defaultCircuitSettings.openMaxMs),
  ...providersSection,
  /** Live monitor runs that are worked on at once. */
  LIVE_RUNS_AT_ONCE: count(1).default(64),
  /** Sandbox monitor runs that are worked on at once. */
  SANDBOX_RUNS_AT_ONCE: count(1).default(32),
});

/** This service's variables. Errors: ConfigError. */
export const loadVerificationConfig = () => checkEvidence(loadConfig(schema, process.env));

/** The variables of the evidence command, which finds a local run by itself. Errors: ConfigError. */
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

/** Where evidence is kept, and how long. */
export function evidenceSettings(config: z.infer<typeof schema>): EvidenceSettings {
  return {
    store: config.EVIDENCE_STORE,
    s3: s3Options(config),
    keyPrefix: config.EVIDENCE_S3_PREFIX,
    retentionDays: config.EVIDENCE_RETENTION_DAYS,
  };
}

/** The object store; undefined where none is configured. */
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

/** How long checks may take. */
export function timeLimits(config: z.infer<typeof schema>): TimeLimits {
  return {
    callMs: config.CALL_TIMEOUT_MS,
    checkMs: config.CHECK_TIMEOUT_MS,
    attemptMs: config.PROVIDER_TIMEOUT_MS,
  };
}

/** When providers' circuits open. A probe's lease outlasts the check that makes it. */
export function circuitSettings(config: z.infer<typeof schema>): CircuitSettings {
  return {
    ...defaultCircuitSettings,
    faultsInRow: config.CIRCUIT_FAULTS_IN_ROW,
    faultShare: config.CIRCUIT_FAULT_SHARE,
    openMs: config.CIRCUIT_OPEN_MS,
    openMaxMs: config.CIRCUIT_OPEN_MAX_MS,
    probeLeaseMs: config.CHECK_TIMEOUT_MS + 10_000,
  };
}
