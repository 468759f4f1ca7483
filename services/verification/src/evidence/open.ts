import type { Logger } from "@vvs/logging";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { pause } from "@vvs/retry";
import { type Environment, environments, perEnvironment } from "@vvs/tenant";
import type { Db } from "mongodb";
import { createEvidenceBodies, type EvidenceBodies } from "./bodies.ts";
import { removeExpired } from "./retention.ts";
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
  /** Days after which evidence is removed; 0 keeps it forever. */
  readonly retentionDays: number;
}

const DAY_MS = 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;

/** The stores of evidence. */
export interface Evidence {
  readonly bodies: Readonly<Record<Environment, EvidenceBodies>>;
  /** Returns the time before which evidence is expired; undefined where it never expires. */
  expiry(): Date | undefined;
  /** Stops the removal of expired evidence; the rest is removed after the next start. */
  close(): Promise<void>;
}

/** Opens the stores of evidence, and starts to remove expired evidence and abandoned objects every hour. */
export async function openEvidence(options: {
  databases: EnvironmentDatabases;
  settings: EvidenceSettings;
  now: () => Date;
  logger: Logger;
}): Promise<Evidence> {
  const { databases, settings, now, logger } = options;
  const { store, compressing, retentionDays } = settings;
  const closing = new AbortController();
  const stopping = closing.signal;
  const objects = settings.s3 && (await createS3Objects(settings.s3));
  const expiry = () => (retentionDays === 0 ? undefined : new Date(now().getTime() - retentionDays * DAY_MS));

  /** Logs failures: what a sweep leaves, the next one removes. */
  async function sweep(db: Db): Promise<void> {
    const before = expiry();
    try {
      const removed = await removeExpired({ db, objects, expiry: before, now: now(), stopping });
      if (removed.records + removed.bodies > 0)
        logger.info({ ...removed, expiry: before }, "expired evidence was removed");
    } catch (err) {
      if (!stopping.aborted) logger.warn({ err }, "expired evidence could not be removed; the next try is in an hour");
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
    expiry,
    async close() {
      closing.abort();
      await sweeping;
      objects?.close();
    },
  };
}
