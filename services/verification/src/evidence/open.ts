import type { Logger } from "@vvs/logging";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { pause } from "@vvs/retry";
import { type Environment, environments, perEnvironment } from "@vvs/tenant";
import type { Db } from "mongodb";
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
  /** Whether new bodies are compressed. */
  readonly compressing: boolean;
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
  const { store, compressing } = settings;
  const closing = new AbortController();
  const stopping = closing.signal;
  const objects = settings.s3 && (await createS3Objects(settings.s3));

  /** Logs failures: what a sweep leaves, the next one removes. */
  async function sweep(db: Db): Promise<void> {
    try {
      await removeAbandoned({ db, objects, now: now(), stopping });
    } catch (err) {
      if (!stopping.aborted)
        logger.warn({ err }, "abandoned content of evidence can't be removed; trying again in an hour");
    }
  }

  async function keepSweeping(): Promise<void> {
    while (!stopping.aborted) {
      for (const environment of environments) await sweep(databases[environment]);
      await pause(SWEEP_EVERY_MS, stopping);
    }
  }

  const sweeping = keepSweeping();
  return {
    bodies: perEnvironment((environment) => {
      const keyPrefix = `${settings.keyPrefix}${environment}/`;
      return createEvidenceBodies({ db: databases[environment], store, keyPrefix, compressing, objects, now });
    }),
    async close() {
      closing.abort();
      await sweeping;
      objects?.close();
    },
  };
}
