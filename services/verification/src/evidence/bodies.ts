import { createHash, randomUUID } from "node:crypto";
import { isDuplicateKey } from "@vvs/mongo";
import { Binary, type Collection, type Db } from "mongodb";

/** What a provider answered, apart from whom it was answered for. */
export interface EvidenceBody {
  /** Lower-case hex of the content's UTF-8 bytes. */
  readonly sha256: string;
  readonly content: string;
}

/** One body per content. Whoever may see a record of evidence may see the body it names. */
export interface BodyDocument {
  /** The SHA-256. */
  readonly _id: string;
  readonly bytes: number;
  /** Where MongoDB holds it. */
  readonly content?: Binary;
  /** Where an object store does. */
  readonly object_key?: string;
  readonly created_at: Date;
  /** When it was last stored anew: each record that names it was made within a minute of such a time. */
  readonly last_put_at: Date;
}

/** Holds bodies outside MongoDB. Errors of all: ServiceError service_unavailable. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | undefined>;
  remove(key: string): Promise<void>;
}

/** One environment's bodies. Errors: those of the stores. */
export interface EvidenceBodies {
  /** Makes sure that bodies are held, each once. Call it before their records are stored. */
  put(bodies: readonly EvidenceBody[]): Promise<void>;
  /** The bytes as they are held; undefined where there are none. */
  get(sha256: string): Promise<Uint8Array | undefined>;
}

export const sha256Of = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

export const bodiesOf = (db: Db): Collection<BodyDocument> => db.collection<BodyDocument>("evidence_bodies");

/**
 * Bodies of one database. New ones go into `store`; each is read from where it was put, so that the place can be changed
 * at any time.
 */
export function createEvidenceBodies(options: {
  db: Db;
  store: "mongodb" | "s3";
  /** Before the keys of objects. */
  keyPrefix: string;
  /** Needed where `store` is s3, and to read what is there. */
  objects: ObjectStore | undefined;
  now: () => Date;
}): EvidenceBodies {
  const { store, objects, keyPrefix, now } = options;
  const bodies = bodiesOf(options.db);

  /** False where it is not held yet. */
  async function touch(sha256: string): Promise<boolean> {
    const { matchedCount } = await bodies.updateOne({ _id: sha256 }, { $max: { last_put_at: now() } });
    return matchedCount === 1;
  }

  /** False where another one was faster. */
  async function insert(
    sha256: string,
    held: Pick<BodyDocument, "bytes" | "content" | "object_key">,
  ): Promise<boolean> {
    const at = now();
    const update = { $setOnInsert: { ...held, created_at: at }, $max: { last_put_at: at } };
    try {
      return (await bodies.updateOne({ _id: sha256 }, update, { upsert: true })).upsertedCount === 1;
    } catch (error) {
      if (isDuplicateKey(error) && (await touch(sha256))) return false;
      throw error;
    }
  }

  async function putOne({ sha256, content }: EvidenceBody): Promise<void> {
    const bytes = Buffer.from(content, "utf8");
    if (store === "mongodb") {
      await insert(sha256, { bytes: bytes.length, content: new Binary(bytes) });
      return;
    }
    if (!objects) throw new Error("no object store is configured");
    if (await touch(sha256)) return;
    // A key of its own each time, so that removing an old body can never hit one that was put anew.
    const key = `${keyPrefix}${sha256}/${randomUUID()}`;
    await objects.put(key, bytes);
    const isFirst = await insert(sha256, { bytes: bytes.length, object_key: key });
    if (!isFirst) await objects.remove(key).catch(() => undefined); // what is left over is named by nothing
  }

  return {
    put: async (list) => void (await Promise.all(list.map(putOne))),
    async get(sha256) {
      const body = await bodies.findOne({ _id: sha256 });
      if (!body?.object_key) return body?.content?.buffer;
      if (!objects) throw new Error("a body of evidence is in an object store, and none is configured");
      return objects.get(body.object_key);
    },
  };
}
