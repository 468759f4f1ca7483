import { isDuplicateKey } from "@vvs/mongo";
import type { Db } from "mongodb";
import type { AttemptResult, CircuitSettings } from "./circuit.ts";
import { afterAttempts, type ProviderState, unknownProvider } from "./provider-state.ts";

/** Maximum number of tries to store results while other replicas store theirs; needing more is a bug. */
const MAX_TRIES = 100;

/** One provider's document, with the provider's name as its id; it belongs to no tenant. */
type ProviderStateDocument = { readonly _id: string } & ProviderState;

/** Stores the state of one environment's providers, which all replicas share. */
export type ProviderStateStore = ReturnType<typeof createProviderStateStore>;

export function createProviderStateStore({ db, settings }: { db: Db; settings: CircuitSettings }) {
  const states = db.collection<ProviderStateDocument>("provider_state");
  return {
    /** Returns the states by name; a provider that was never asked is absent. */
    readAll: async () => new Map((await states.find().toArray()).map((found) => [found._id, found])),
    /**
     * Applies the results of attempts, and returns the state after them. Compares and sets by revision, so that no replica
     * overwrites what another one has stored meanwhile.
     */
    async add(provider: string, results: readonly AttemptResult[]): Promise<ProviderState> {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const found = await states.findOne({ _id: provider });
        const before = found ?? unknownProvider;
        const after = { ...afterAttempts(before, results, settings), revision: before.revision + 1 };
        const { revision, circuit, shut, last_success_at } = after;
        const filter = { _id: provider, revision: found?.revision ?? { $exists: false } };
        const update = { $set: { revision, circuit, shut, last_success_at } };
        try {
          const { matchedCount, upsertedCount } = await states.updateOne(filter, update, { upsert: !found });
          if (matchedCount + upsertedCount === 1) return after;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
      }
      throw new Error("a provider's state changes faster than it can be stored");
    },
    /** Makes this attempt the probe. Returns undefined where another attempt is the probe, or none about its input is due. */
    async claimProbe(
      provider: string,
      { probeId, input, at }: { probeId: string; input: string | undefined; at: Date },
    ): Promise<ProviderState | undefined> {
      const isFree = [{ "circuit.probe": { $exists: false } }, { "circuit.probe.until": { $lte: at } }];
      const probe = { id: probeId, until: new Date(at.getTime() + settings.probeLeaseMs) };
      const claimed = await states.findOneAndUpdate(
        {
          _id: provider,
          "circuit.open_until": { $lte: at },
          $or: isFree,
          ...(input && { $nor: [{ "circuit.failed_probe.input": input, "circuit.failed_probe.until": { $gt: at } }] }),
        },
        { $set: { "circuit.probe": probe }, $inc: { revision: 1 } },
        { returnDocument: "after" },
      );
      return claimed ?? undefined;
    },
  };
}
