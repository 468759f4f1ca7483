import type { SecretKey } from "@vvs/config";
import { open, type Place, type Sealed, seal } from "@vvs/sealing";
import type { Collection, Filter, UpdateFilter } from "mongodb";
import { mailPlace } from "../mail/queue.ts";
import type { Basics } from "../parts.ts";
import { totpPlace } from "../users/second-factor.ts";
import { webhookSecretPlace } from "./webhook-secrets.ts";

const MAX_PROBLEMS = 10;

/** A document with fields that hold an encrypted secret as `sealed`. */
type Sealing<D> = { readonly _id: string } & { readonly [F in keyof D]?: unknown };

export function createResealing({ store, keys, now }: Pick<Basics, "store" | "now"> & { keys: readonly SecretKey[] }) {
  const newest = keys[0]!.id;

  /** Re-encrypts one field of all documents. Returns how many it renewed, and how many are left. */
  async function reseal<D extends Sealing<D>>(
    collection: Collection<D>,
    field: keyof D & string,
    placeOf: (document: D) => Place,
    report: (problem: string) => void,
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
        report(`${collection.collectionName} ${document._id}: ${(error as Error).message}`);
      }
    }
    return { renewed, left: await collection.countDocuments(outstanding) };
  }

  return {
    /**
     * Re-encrypts everything under WEBHOOK_SECRET_KEYS with the first key of the ring: webhook secrets, the secrets of
     * authenticator apps, and queued emails. May run beside the service: it never overwrites what changed meanwhile. A
     * repetition continues where the last run ended. If nothing is `left`, the other keys can be removed. `problems`
     * are the first secrets that can't be decrypted: collection, id and reason.
     */
    async run(): Promise<{ renewed: number; left: number; problems?: readonly string[] }> {
      const problems: string[] = [];
      const report = (problem: string) => void (problems.length < MAX_PROBLEMS && problems.push(problem));
      const { webhookSecrets, users, mails } = store;
      // A previous secret that has ended signs nothing: it must not delay the removal of its key.
      await webhookSecrets.updateMany({ "previous.valid_until": { $lte: now() } }, { $unset: { previous: "" } });
      const counts = [
        await reseal(webhookSecrets, "current", webhookSecretPlace, report),
        await reseal(webhookSecrets, "previous", webhookSecretPlace, report),
        await reseal(users, "totp", totpPlace, report),
        await reseal(users, "totp_setup", totpPlace, report),
        await reseal(mails, "content", mailPlace, report),
      ];
      const sum = (part: "renewed" | "left") => counts.reduce((total, count) => total + count[part], 0);
      return { renewed: sum("renewed"), left: sum("left"), ...(problems.length > 0 && { problems }) };
    },
  };
}
