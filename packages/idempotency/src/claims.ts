import { createBatcher } from "@vvs/batching";
import { outcomeUnknown } from "@vvs/errors";
import { translateMongoError } from "@vvs/mongo";
import { type Binary, type Collection, MongoBulkWriteError, type WithId } from "mongodb";

/** A key and the call that holds it. */
export interface IdempotencyDocument {
  readonly api_key_id: string;
  readonly path: string;
  /** Two calls of one API key on one path are the same call if they have one of these keys in common. */
  readonly keys: readonly { readonly key: string; readonly body_hash: Binary }[];
  readonly organization_id: string;
  /** The call that holds the key. */
  readonly call_id: string;
  readonly state: "running" | "done";
  /** While running: time by which the call that holds the key must have ended. */
  readonly leased_until: Date;
  /** When done: the id of the first call's result. */
  readonly resource_id?: string;
  readonly created_at: Date;
}

/** The document of a call that wants a key. */
export type Claim = IdempotencyDocument;

type Holder = WithId<IdempotencyDocument>;

/** Maximum number of keys in one command. */
const MAX_TOGETHER = 100;
/** Maximum number of commands at the same time. Meanwhile, further calls wait and share the next one. One makes the largest. */
const AT_ONCE = 1;
const DUPLICATE_KEY = 11_000;

/** Creates functions that claim and free keys. Calls of all organizations that come together share a command. */
export function createClaims(options: { keys: Collection<IdempotencyDocument>; now: () => Date }) {
  const { keys, now } = options;
  const batches = { maxSize: MAX_TOGETHER, atOnce: AT_ONCE, failsAll: isUnavailable };

  /** Returns who holds the key of each claim then. */
  async function claimAll(claims: readonly Claim[]): Promise<(IdempotencyDocument | undefined)[]> {
    const refused = await insert(keys, claims);
    if (refused.length === 0) return [...claims];
    let holders = await readHolders(keys, refused);
    if (await takeOver(keys, refused, { holders, now: now() })) holders = await readHolders(keys, refused);
    return claims.map((claim) => (refused.includes(claim) ? holderOf(claim, holders) : claim));
  }

  return {
    /**
     * Claims the key of a call if it is free or its lease is over. Returns the document of the call that holds it then: the
     * claim itself or another call's; undefined where another call has just freed it.
     */
    claim: createBatcher<Claim, IdempotencyDocument | undefined>({
      async run(claims) {
        try {
          return await claimAll(claims);
        } catch (error) {
          // Its answer may be lost. A claim that it stored is then found to hold its own key.
          if (!isUnavailable(error)) throw error;
          return claimAll(claims);
        }
      },
      ...batches,
    }),
    /** Frees the key that a call holds. */
    free: createBatcher<Claim, void>({
      async run(claims) {
        const writes = claims.map((claim) => ({ deleteOne: { filter: heldBy(claim) } }));
        await keys.bulkWrite(writes, { ordered: false });
        return [];
      },
      ...batches,
    }),
  };
}

/** Returns a filter for the document of a call that holds its key. */
export function heldBy(claim: Claim) {
  return { ...sameCall(claim), call_id: claim.call_id, state: "running" as const };
}

/** Returns whether a document is that of a call with the same key and the same body. */
export function hasSameBody(one: IdempotencyDocument, other: IdempotencyDocument): boolean {
  return one.keys.some(({ key, body_hash: hash }) =>
    other.keys.some((each) => each.key === key && Buffer.from(each.body_hash.buffer).equals(hash.buffer)),
  );
}

function sameCall({ api_key_id, path, keys, organization_id }: IdempotencyDocument) {
  return { api_key_id, path, "keys.key": { $in: keys.map(({ key }) => key) }, organization_id };
}

/** Inserts claims, and returns those whose key is not free. Errors: the database's for any other reason. */
async function insert(keys: Collection<IdempotencyDocument>, claims: readonly Claim[]): Promise<Claim[]> {
  try {
    await keys.insertMany(
      claims.map((claim) => ({ ...claim })),
      { ordered: false },
    );
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    if (error.result.getWriteConcernError()) throw outcomeUnknown(error);
    const refusals = [error.writeErrors].flat();
    if (refusals.length === 0 || refusals.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    return refusals.map(({ index }) => claims[index]!);
  }
}

function readHolders(keys: Collection<IdempotencyDocument>, claims: readonly Claim[]): Promise<Holder[]> {
  return keys.find({ $or: claims.map(sameCall) }).toArray();
}

/** Gives claims the keys whose lease is over; of several claims, one gets it. Returns whether there were any. */
async function takeOver(
  keys: Collection<IdempotencyDocument>,
  claims: readonly Claim[],
  { holders, now }: { holders: readonly Holder[]; now: Date },
): Promise<boolean> {
  const writes = claims.flatMap((claim) => {
    const holder = holderOf(claim, holders);
    if (holder?.state !== "running" || holder.leased_until >= now) return [];
    const { _id, organization_id, leased_until } = holder;
    const filter = { _id, organization_id, state: "running" as const, leased_until };
    return { replaceOne: { filter, replacement: { ...claim } } };
  });
  if (writes.length === 0) return false;
  await keys.bulkWrite(writes, { ordered: false });
  return true;
}

function holderOf(claim: Claim, holders: readonly Holder[]): Holder | undefined {
  return holders.find(
    ({ organization_id, api_key_id, path, keys }) =>
      organization_id === claim.organization_id &&
      api_key_id === claim.api_key_id &&
      path === claim.path &&
      keys.some(({ key }) => claim.keys.some((one) => one.key === key)),
  );
}

function isUnavailable(error: unknown): boolean {
  return translateMongoError(error).code === "service_unavailable";
}
