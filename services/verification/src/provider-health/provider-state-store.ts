import { isDuplicateKey } from "@vvs/mongo";
import type { Collection, Db, WithId } from "mongodb";
import { type Circuit, type CircuitSettings, closedCircuit } from "./circuit.ts";
import {
  type AttemptNote,
  afterNotes,
  type CallCount,
  dayOf,
  type ProviderState,
  unknownProvider,
} from "./provider-state.ts";

/** Maximum number of tries to store a result while other replicas store theirs; needing more is a bug. */
const MOST_TRIES = 100;

/** One provider's document, with the provider's name as its id; it belongs to no tenant. */
interface ProviderStateDocument {
  readonly _id: string;
  readonly revision?: number;
  readonly circuit?: {
    readonly faults_in_row: number;
    readonly window_started_at: Date;
    readonly window_attempts: number;
    readonly window_faults: number;
    readonly openings: number;
    readonly open_until?: Date;
    readonly probe?: { readonly id: string; readonly until: Date };
  };
  readonly shut_until?: Date;
  readonly last_success_at?: Date;
  readonly calls?: CallCount;
}

/** Stores the state of one environment's providers, which all replicas share. */
export interface ProviderStateStore {
  /** Returns the states by name; a provider that was never asked is absent. */
  readAll(): Promise<ReadonlyMap<string, ProviderState>>;
  /** Applies the results of attempts, and returns the state after them. */
  note(provider: string, notes: readonly AttemptNote[]): Promise<ProviderState>;
  /** Makes this attempt the probe. Returns undefined where another attempt is the probe, or none is due. */
  claimProbe(provider: string, probeId: string, at: Date): Promise<ProviderState | undefined>;
  /** Counts one call in its UTC day. Returns undefined, and counts nothing, where the quota is used up. */
  countCall(provider: string, quota: number, at: Date): Promise<CallCount | undefined>;
}

export function createProviderStateStore(options: { db: Db; settings: CircuitSettings }): ProviderStateStore {
  const { settings } = options;
  const states = options.db.collection<ProviderStateDocument>("provider_state");
  return {
    readAll: async () => new Map((await states.find().toArray()).map((state) => [state._id, fromDocument(state)])),
    note: (provider, notes) => note(states, provider, notes, settings),
    claimProbe: (provider, probeId, at) => claimProbe(states, provider, probeId, at, settings.probeLeaseMs),
    countCall: (provider, quota, at) => countCall(states, provider, quota, dayOf(at)),
  };
}

/** Compares and sets by revision, so that no replica overwrites what another one has stored meanwhile. */
async function note(
  states: Collection<ProviderStateDocument>,
  provider: string,
  notes: readonly AttemptNote[],
  settings: CircuitSettings,
): Promise<ProviderState> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const found = await states.findOne({ _id: provider });
    const before = found ? fromDocument(found) : unknownProvider;
    const after = { ...afterNotes(before, notes, settings), revision: before.revision + 1 };
    const changed = {
      revision: after.revision,
      circuit: toDocument(after.circuit),
      shut_until: after.shutUntil,
      last_success_at: after.lastSuccessAt,
    };
    try {
      const filter = { _id: provider, revision: found?.revision ?? { $exists: false } };
      const { matchedCount, upsertedCount } = await states.updateOne(filter, { $set: changed }, { upsert: !found });
      if (matchedCount + upsertedCount === 1) return after;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
  throw new Error("a provider's state changes faster than it can be stored");
}

async function claimProbe(
  states: Collection<ProviderStateDocument>,
  provider: string,
  probeId: string,
  at: Date,
  leaseMs: number,
): Promise<ProviderState | undefined> {
  const isFree = [{ "circuit.probe": { $exists: false } }, { "circuit.probe.until": { $lte: at } }];
  const probe = { id: probeId, until: new Date(at.getTime() + leaseMs) };
  const claimed = await states.findOneAndUpdate(
    { _id: provider, "circuit.open_until": { $lte: at }, $or: isFree },
    { $set: { "circuit.probe": probe }, $inc: { revision: 1 } },
    { returnDocument: "after" },
  );
  return claimed ? fromDocument(claimed) : undefined;
}

/** The first call of a new day resets the count; a replica whose clock is behind counts in the day that has begun. */
async function countCall(
  states: Collection<ProviderStateDocument>,
  provider: string,
  quota: number,
  day: string,
): Promise<CallCount | undefined> {
  const isNewDay = [{ calls: { $exists: false } }, { "calls.day": { $lt: day } }];
  const nextCalls = {
    $cond: [
      { $gte: ["$calls.day", day] },
      { day: "$calls.day", count: { $add: ["$calls.count", 1] } },
      { day, count: 1 },
    ],
  };
  const count = (upsert: boolean) =>
    states.findOneAndUpdate(
      { _id: provider, $or: [...isNewDay, { "calls.count": { $lt: quota } }] },
      [{ $set: { calls: nextCalls } }],
      { upsert, returnDocument: "after" },
    );
  const counted = await count(true).catch((error: unknown) => {
    // The document exists: the quota is used up, or another replica has just created it.
    if (isDuplicateKey(error)) return count(false);
    throw error;
  });
  return counted?.calls;
}

function fromDocument(document: WithId<ProviderStateDocument>): ProviderState {
  const { circuit } = document;
  return {
    revision: document.revision ?? 0,
    circuit: circuit
      ? {
          faultsInRow: circuit.faults_in_row,
          windowStartedAt: circuit.window_started_at,
          windowAttempts: circuit.window_attempts,
          windowFaults: circuit.window_faults,
          openings: circuit.openings,
          openUntil: circuit.open_until,
          probe: circuit.probe,
        }
      : closedCircuit,
    shutUntil: document.shut_until,
    lastSuccessAt: document.last_success_at,
    calls: document.calls,
  };
}

function toDocument(circuit: Circuit): ProviderStateDocument["circuit"] {
  return {
    faults_in_row: circuit.faultsInRow,
    window_started_at: circuit.windowStartedAt,
    window_attempts: circuit.windowAttempts,
    window_faults: circuit.windowFaults,
    openings: circuit.openings,
    open_until: circuit.openUntil,
    probe: circuit.probe,
  };
}
