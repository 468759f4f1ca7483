import { hash, randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { createBatcher } from "@vvs/batching";
import { ServiceError } from "@vvs/errors";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import { Binary, type Collection, type Db } from "mongodb";

/** The content of an answer, without a reference to the tenant it was given for. */
export interface EvidenceBody {
  /** SHA-256 of the content's UTF-8 bytes, in lower-case hex. */
  readonly sha256: string;
  readonly content: string;
}

/** How the content of a body is stored. */
interface Encoding {
  /** Size of the content, before it is compressed. */
  readonly bytes: number;
  /** Absent where it is not compressed. */
  readonly compression?: "gzip";
}

/** A stored body: one per content. A tenant that can see a record of evidence can see the body it names. */
export interface BodyDocument extends Encoding {
  /** The SHA-256. */
  readonly _id: string;
  /** The content, where MongoDB holds it. */
  readonly content?: Binary;
  /** The key of the object, where an object store holds the content. */
  readonly object_key?: string;
  readonly created_at: Date;
  /** When the body was last put, ten minutes apart at least. Each record that names it was made soon after such a time. */
  readonly last_put_at: Date;
}

type Held = Pick<BodyDocument, keyof Encoding | "content" | "object_key"> & Pick<EvidenceBody, "sha256">;

/** An object to remove: no body names it, or none will once its body's document is removed. */
export interface RemovalDocument {
  /** The object's key. */
  readonly _id: string;
  /** When the object was about to be put: its body may still be stored. Absent: no body will name it from now on. */
  readonly put_at?: Date;
}

/** Holds bodies outside MongoDB. Errors of each method: ServiceError service_unavailable. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | undefined>;
  remove(key: string): Promise<void>;
}

/** How long a body that was put is not put again, in milliseconds: much less than the day for which the retention spares it. */
const RECENT_MS = 10 * 60_000;
/** Maximum number of bodies that are known to have been put; beyond it, the oldest are forgotten. */
const MAX_RECENT = 10_000;
/** Maximum number of bodies in one write, of at most 1 MB each. */
const MAX_TOGETHER = 32;
/** Maximum number of writes in flight; further bodies wait and share the next one. */
const WRITES_AT_ONCE = 2;

export type EvidenceBodies = ReturnType<typeof createEvidenceBodies>;

/** Returns the SHA-256 in lower-case hex. */
export const sha256Of = (bytes: Uint8Array | string): string => hash("sha256", bytes);

export const bodiesOf = (db: Db): Collection<BodyDocument> => db.collection<BodyDocument>("evidence_bodies");

export const removalsOf = (db: Db): Collection<RemovalDocument> => db.collection<RemovalDocument>("evidence_removals");

/**
 * Creates the bodies of one environment's database. New ones are put into `store`; each is read from the store that it was
 * put into, so that the configured store can change at any time. Errors: those of the stores.
 */
export function createEvidenceBodies(options: {
  db: Db;
  store: "mongodb" | "s3";
  /** Prefix of the keys of objects. */
  keyPrefix: string;
  /** Needed where `store` is s3, and to read bodies that are there. */
  objects: ObjectStore | undefined;
  now: () => Date;
}) {
  const { store, objects, keyPrefix, now } = options;
  const bodies = bodiesOf(options.db);
  const removals = removalsOf(options.db);
  /** When bodies were put last, in the order of their puts. */
  const recent = new Map<string, number>();

  /** Returns false where the body is not stored yet. */
  async function touch(sha256: string): Promise<boolean> {
    const { matchedCount } = await bodies.updateOne({ _id: sha256 }, { $max: { last_put_at: now() } });
    return matchedCount === 1;
  }

  function insertion({ sha256, ...held }: Held) {
    const at = now();
    const update = { $setOnInsert: { ...held, created_at: at }, $max: { last_put_at: at } };
    return { filter: { _id: sha256 }, update, upsert: true };
  }

  async function writeContents(contents: readonly EvidenceBody[]): Promise<void> {
    const compressed = async ({ sha256, content }: EvidenceBody) => {
      const { stored, ...held } = await compress(Buffer.from(content, "utf8"));
      return { updateOne: insertion({ sha256, ...held, content: new Binary(stored) }) };
    };
    const operations = await Promise.all(contents.map(compressed));
    const write = () => bodies.bulkWrite(operations, { ordered: false });
    // Another replica stored one of them first.
    await write().catch((error: unknown) => (isDuplicateKey(error) ? write() : Promise.reject(error)));
  }

  const putContent = createBatcher<EvidenceBody, undefined>({
    async run(contents) {
      await writeContents([...new Map(contents.map((body) => [body.sha256, body])).values()]);
      return [];
    },
    maxSize: MAX_TOGETHER,
    atOnce: WRITES_AT_ONCE,
  });

  /** Notes the object for removal first, so that one that no body will name is found. The body's document ends the note. */
  async function insertObject(store: ObjectStore, sha256: string, content: Buffer): Promise<void> {
    // A new key each time, so that the removal of an old body can never remove one that was put again.
    const key = `${keyPrefix}${sha256}/${randomUUID()}`;
    await removals.insertOne({ _id: key, put_at: now() });
    const { stored, ...held } = await compress(content);
    await store.put(key, stored);
    const isFirst = await inTransaction(options.db.client, async (session) => {
      const { filter, update, upsert } = insertion({ sha256, ...held, object_key: key });
      // Another replica or call stored the body first.
      if ((await bodies.updateOne(filter, update, { upsert, session })).upsertedCount === 0) return false;
      const noted = await removals.deleteOne({ _id: key, put_at: { $exists: true } }, { session });
      if (noted.deletedCount === 0)
        throw new ServiceError("service_unavailable", { cause: new Error("the object was removed as abandoned") });
      return true;
    });
    if (isFirst) return;
    // Where this fails, the note stays, and the object is removed after a day.
    await store.remove(key).then(
      () => removals.deleteOne({ _id: key }),
      () => undefined,
    );
  }

  function getObject(key: string): Promise<Uint8Array | undefined> {
    if (!objects) throw new Error("a body of evidence is in an object store, and none is configured");
    return objects.get(key);
  }

  async function putOne({ sha256, content }: EvidenceBody): Promise<void> {
    const putAt = recent.get(sha256);
    if (putAt !== undefined && Math.abs(now().getTime() - putAt) < RECENT_MS) return;
    if (store === "mongodb") await putContent({ sha256, content });
    else if (!objects) throw new Error("no object store is configured");
    else if (!(await touch(sha256))) await insertObject(objects, sha256, Buffer.from(content, "utf8"));
    recent.delete(sha256);
    recent.set(sha256, now().getTime());
    if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value!);
  }

  return {
    /**
     * Stores bodies that are not stored yet; those of calls at the same moment share a write, and one that was put a moment ago
     * costs none. Must be called before their records are stored.
     */
    put: async (list: readonly EvidenceBody[]): Promise<void> => void (await Promise.all(list.map(putOne))),
    /** Returns a body's bytes; undefined where there is no such body. */
    async get(sha256: string): Promise<Uint8Array | undefined> {
      const body = await bodies.findOne({ _id: sha256 });
      const stored = body?.object_key ? await getObject(body.object_key) : body?.content?.buffer;
      return stored && decompress(stored, body!);
    },
  };
}

/** Returns a content as it is stored: unchanged where compressing makes it no smaller. */
async function compress(content: Buffer): Promise<Encoding & { readonly stored: Buffer }> {
  const smaller = await promisify(gzip)(content);
  const bytes = content.length;
  return smaller.length < bytes ? { bytes, compression: "gzip", stored: smaller } : { bytes, stored: content };
}

/** Returns the content. What can't be decompressed is returned as it is stored, so that it differs from its hash. */
async function decompress(stored: Uint8Array, { bytes, compression }: Encoding): Promise<Uint8Array> {
  if (!compression) return stored;
  return promisify(gunzip)(stored, { maxOutputLength: bytes }).catch(() => stored);
}
