import type { Logger } from "@vvs/logging";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { type Environment, environments } from "@vvs/tenant";
import { createEvidenceBodies, type EvidenceBodies } from "./bodies.ts";
import { expiryOf, keepRetention } from "./retention.ts";
import { createS3Objects, type S3Options } from "./s3-objects.ts";

export interface EvidenceSettings {
  /** The store for new bodies. */
  readonly store: "mongodb" | "s3";
  /** Needed where `store` is s3, and to read bodies that are there. */
  readonly s3: S3Options | undefined;
  /** Prefix of the key of each object. */
  readonly keyPrefix: string;
  /** Days after which evidence is removed; 0 keeps it forever. */
  readonly retentionDays: number;
}

/** The stores of evidence. */
export interface Evidence {
  readonly bodies: Readonly<Record<Environment, EvidenceBodies>>;
  /** Returns the time before which evidence is expired; undefined where it never expires. */
  expiry(): Date | undefined;
  /** Stops the removal of expired evidence; the rest is removed after the next start. */
  close(): Promise<void>;
}

/** Opens the stores of evidence, and starts to remove expired evidence. */
export async function openEvidence(options: {
  databases: EnvironmentDatabases;
  settings: EvidenceSettings;
  now: () => Date;
  logger: Logger;
}): Promise<Evidence> {
  const { databases, settings, now, logger } = options;
  const closing = new AbortController();
  const { store, retentionDays } = settings;
  const objects = settings.s3 && (await createS3Objects(settings.s3));
  const bodiesIn = (environment: Environment) => {
    const keyPrefix = `${settings.keyPrefix}${environment}/`;
    return createEvidenceBodies({ db: databases[environment], store, keyPrefix, objects, now });
  };
  const dbs = environments.map((environment) => databases[environment]);
  const retention = keepRetention({ databases: dbs, objects, retentionDays, now, logger, stopping: closing.signal });
  return {
    bodies: { live: bodiesIn("live"), sandbox: bodiesIn("sandbox") },
    expiry: () => expiryOf(retentionDays, now()),
    async close() {
      closing.abort();
      await retention;
      objects?.close();
    },
  };
}
