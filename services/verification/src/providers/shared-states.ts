import type { Logger } from "@vvs/logging";
import type { CircuitSettings } from "./circuit.ts";
import { type AttemptNote, afterNotes, type ProviderState, unknownProvider } from "./provider-state.ts";
import type { ProviderStateStore } from "./provider-state-store.ts";

/** How old another replica's news may be. */
const FRESH_MS = 1_000;
/** How long news that change nothing for others (the provider is well, still) wait for the next write. */
const GATHER_MS = 1_000;
/** Notes of one provider that are kept while the database is away; the oldest are forgotten first. */
const MOST_NOTES = 1_000;

/** This replica's picture of the providers' states: what is stored, and on top of it what it noted itself. */
export interface SharedStates {
  of(provider: string): ProviderState;
  /** Looks at the database unless it did within the last second. A database that is away is logged, never an error. */
  refresh(options?: { evenIfFresh: boolean }): Promise<void>;
  /** Takes over a state that was just stored. */
  adopt(provider: string, stored: ProviderState): void;
  /** Counts at once here; stored in the background, at once where it changes something for others. */
  note(provider: string, note: AttemptNote): void;
  /** Stores what is noted, as far as the database is there. */
  flush(): Promise<void>;
}

interface Entry {
  stored: ProviderState;
  /** On their way into the database; until they are there a look at it tells nothing of whether they are. */
  leaving: AttemptNote[];
  waiting: AttemptNote[];
  /** `stored` with the notes on top. */
  view: ProviderState;
  writing: Promise<void> | undefined;
}

export function createSharedStates(options: {
  store: Pick<ProviderStateStore, "readAll" | "note">;
  settings: CircuitSettings;
  now: () => Date;
  logger: Logger;
  /** Gives up a look at the database that takes too long. */
  limit: <T>(work: Promise<T>) => Promise<T>;
}): SharedStates {
  const { store, settings, now, logger, limit } = options;
  const entries = new Map<string, Entry>();
  let readAt = 0;
  let reading: Promise<void> | undefined;
  let isAway = false;
  let gathering: NodeJS.Timeout | undefined;

  function entryOf(provider: string): Entry {
    let entry = entries.get(provider);
    if (!entry) {
      const state = unknownProvider;
      entry = { stored: state, leaving: [], waiting: [], view: state, writing: undefined };
      entries.set(provider, entry);
    }
    return entry;
  }

  function adopt(provider: string, stored: ProviderState): void {
    const entry = entryOf(provider);
    entry.stored = newest(entry.stored, stored);
    entry.view = afterNotes(entry.stored, [...entry.leaving, ...entry.waiting], settings);
  }

  function report(err: unknown): void {
    if (!isAway) logger.warn({ err }, "the providers' state is out of reach; this replica goes on with its own");
    isAway = true;
  }

  async function read(): Promise<void> {
    readAt = now().getTime();
    try {
      const states = await limit(store.readAll());
      isAway = false;
      for (const [provider, state] of states) if (entryOf(provider).leaving.length === 0) adopt(provider, state);
    } catch (err) {
      report(err);
    }
  }

  async function write(provider: string, entry: Entry): Promise<void> {
    while (entry.waiting.length > 0) {
      entry.leaving = entry.waiting;
      entry.waiting = [];
      try {
        const stored = await store.note(provider, entry.leaving);
        entry.leaving = [];
        adopt(provider, stored);
      } catch (err) {
        report(err);
        entry.waiting = [...entry.leaving, ...entry.waiting].slice(-MOST_NOTES);
        entry.leaving = [];
        return gather();
      }
    }
  }

  function startWrite(provider: string, entry: Entry): Promise<void> {
    entry.writing ??= write(provider, entry).finally(() => {
      entry.writing = undefined;
    });
    return entry.writing;
  }

  async function flush(): Promise<void> {
    clearTimeout(gathering);
    gathering = undefined;
    await Promise.all([...entries].map(([provider, entry]) => startWrite(provider, entry)));
  }

  function gather(): void {
    gathering ??= setTimeout(() => void flush(), GATHER_MS).unref();
  }

  return {
    of: (provider) => entries.get(provider)?.view ?? unknownProvider,
    async refresh({ evenIfFresh } = { evenIfFresh: false }) {
      const age = now().getTime() - readAt;
      if (!evenIfFresh && !reading && age >= 0 && age < FRESH_MS) return;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
    adopt,
    note(provider, note) {
      const entry = entryOf(provider);
      const before = entry.view;
      entry.waiting = [...entry.waiting, note].slice(-MOST_NOTES);
      entry.view = afterNotes(before, [note], settings);
      const isNews =
        note.kind === "fault" || note.shutUntil || before.circuit.faultsInRow > 0 || before.circuit.openUntil;
      if (isNews) void startWrite(provider, entry);
      else gather();
    },
    flush,
  };
}

/** The calls are counted apart from the revision. */
function newest(one: ProviderState, other: ProviderState): ProviderState {
  const base = other.revision >= one.revision ? other : one;
  const [a, b] = [one.calls, other.calls];
  const isOtherAhead = b && (!a || b.day > a.day || (b.day === a.day && b.count > a.count));
  return { ...base, calls: isOtherAhead ? b : a };
}
