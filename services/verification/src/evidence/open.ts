import type { Logger } from "@vvs/logging";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { superviseLoop } from "@vvs/retry";
import { type Environment, environments, perEnvironment } from "@vvs/tenant";
import { createEvidenceBodies, type EvidenceBodies } from "./bodies.ts";
import { removeAbandoned } from "./retention.ts";
import { createS3Objects, type S3Options } from "./s3-objects.ts";

export interface EvidenceSettings {
  /** The store for new bodies. */
  readonly store: "mongodb" | "s3";
  /** Needed where `store` is s3, and to read bodies that are there. */
  readonly s3: S3Options | undefined;
  /** Prefix of the key of each object. */
  readonly keyPrefix: string;
}

const SWEEP_EVERY_MS = 3_600_000;

/** The stores of evidence. */
export interface Evidence {
  readonly bodies: Readonly<Record<Environment, EvidenceBodies>>;
  /** Stops the removal of abandoned content; the rest is removed after the next start. */
  close(): Promise<void>;
}

/** Opens the stores of evidence, and starts to remove content that nothing names every hour. */
export async function openEvidence(options: {
  databases: EnvironmentDatabases;
  settings: EvidenceSettings;
  now: () => Date;
  logger: Logger;
}): Promise<Evidence> {
  const { databases, settings, now, logger } = options;
  const { store } = settings;
  const closing = new AbortController();
  const { signal: stopping } = closing;
  const objects = settings.s3 && (await createS3Objects(settings.s3));

  const sweeping = environments.map((environment) =>
    superviseLoop({
      async round() {
        await removeAbandoned({ db: databases[environment], objects, now: now(), stopping });
        return SWEEP_EVERY_MS;
      },
      failure: "abandoned content of evidence can't be removed; retrying",
      recovery: "abandoned content of evidence is removed again",
      backoff: { firstMs: 60_000, longestMs: SWEEP_EVERY_MS },
      stopping,
      logger,
    }),
  );
  return {
    bodies: perEnvironment((environment) => {
      const keyPrefix = `${settings.keyPrefix}${environment}/`;
      return createEvidenceBodies({ db: databases[environment], store, keyPrefix, objects, now });
    }),
    async close() {
      closing.abort();
      await Promise.all(sweeping.map((loop) => loop.ended()));
      objects?.close();
    },
  };
}
