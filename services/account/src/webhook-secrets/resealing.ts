import type { SecretKey } from "@vvs/config";
import { open, type Place, type Sealed, seal } from "@vvs/sealing";
import type { Collection, Filter, UpdateFilter } from "mongodb";
import { mailPlace } from "../mail/queue.ts";
import type { AccountStore } from "../store.ts";
import { totpPlace } from "../users/second-factor.ts";
import { webhookSecretPlace } from "./webhook-secret-store.ts";

/** What a resealing came to. */
export interface Resealed {
  /** Boxes that are now by the first key of the ring. */
  readonly renewed: number;
  /** Boxes that are not: changed meanwhile, or not to be opened. A repetition gets the former. */
  readonly left: number;
  /** Why some can't be opened: collection, id, reason. The first few. */
  readonly problems?: readonly string[];
}

export interface Resealing {
  /**
   * Seals everything that WEBHOOK_SECRET_KEYS sealed with the first key of the ring: webhook secrets, the secrets of
   * authenticator apps, and mails that wait. May run beside the service: what another call writes meanwhile is never overwritten. What is by
   * the first key is passed over, so that one that was ended goes on where it was. With nothing left the other keys can
   * be dropped.
   */
  run(): Promise<Resealed>;
}

const TOLD_PROBLEMS = 10;

/** A document's boxes by their field, which holds the box as `sealed`. */
type Sealing<D> = { readonly _id: string } & { readonly [F in keyof D]?: unknown };

export function createResealing(options: {
  store: AccountStore;
  keys: readonly SecretKey[];
  now: () => Date;
}): Resealing {
  const { store, keys, now } = options;
  const newest = keys[0]!.id;

  /** Renews one field of all documents, and returns how many it renewed and how many are outstanding still. */
  async function reseal<D extends Sealing<D>>(
    collection: Collection<D>,
    field: keyof D & string,
    placeOf: (document: D) => Place,
    tell: (problem: string) => void,
  ) {
    const outstanding = { [field]: { $exists: true }, [`${field}.sealed.key_id`]: { $ne: newest } } as Filter<D>;
    let renewed = 0;
    for await (const found of collection.find(outstanding)) {
      const document = found as D;
      const { sealed } = document[field] as { sealed: Sealed };
      try {
        const place = placeOf(document);
        const box = seal(keys, place, open(keys, place, sealed));
        const unchanged = { _id: document._id, [`${field}.sealed.box`]: sealed.box } as Filter<D>;
        const update = { $set: { [`${field}.sealed`]: box } } as unknown as UpdateFilter<D>;
        renewed += (await collection.updateOne(unchanged, update)).modifiedCount;
      } catch (error) {
        tell(`${collection.collectionName} ${document._id}: ${(error as Error).message}`);
      }
    }
    return { renewed, left: await collection.countDocuments(outstanding) };
  }

  return {
    async run() {
      const problems: string[] = [];
      const tell = (problem: string) => void (problems.length < TOLD_PROBLEMS && problems.push(problem));
      const { webhookSecrets, users, mails } = store;
      // A previous secret whose time is over signs nothing: it must not hold up the end of the key that sealed it.
      await webhookSecrets.updateMany({ "previous.valid_until": { $lte: now() } }, { $unset: { previous: "" } });
      const counts = [
        await reseal(webhookSecrets, "current", webhookSecretPlace, tell),
        await reseal(webhookSecrets, "previous", webhookSecretPlace, tell),
        await reseal(users, "totp", totpPlace, tell),
        await reseal(users, "totp_setup", totpPlace, tell),
        await reseal(mails, "content", mailPlace, tell),
      ];
      const sum = (part: "renewed" | "left") => counts.reduce((total, count) => total + count[part], 0);
      return { renewed: sum("renewed"), left: sum("left"), ...(problems.length > 0 && { problems }) };
    },
  };
}
