import type { Logger } from "@vvs/logging";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { type Environment, environments } from "@vvs/tenant";
import { createEvidenceBodies, type EvidenceBodies } from "./bodies.ts";
import { expiryOf, keepRetention } from "./retention.ts";
import { createS3Objects, type S3Options } from "./s3-objects.ts";

export interface EvidenceSettings {
  /** Where new content goes. */
  readonly store: "mongodb" | "s3";
  /** Needed where `store` is s3, and to read what is there. */
  readonly s3: S3Options | undefined;
  /** Before the key of each object. */
  readonly keyPrefix: string;
  /** 0 keeps evidence for ever. */
  readonly retentionDays: number;
}

/** Where evidence is kept, and how long. */
export interface Evidence {
  readonly bodies: Readonly<Record<Environment, EvidenceBodies>>;
  /** The time before which evidence is expired; undefined where none ever is. */
  expiry(): Date | undefined;
  /** Ends removals; what is left expired is removed by the next start. */
  close(): Promise<void>;
}

/** Opens the stores of evidence, and begins to remove what is expired. */
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
