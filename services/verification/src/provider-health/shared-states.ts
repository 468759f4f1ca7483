import { withoutDeadline } from "@vvs/deadline";
import type { Logger } from "@vvs/logging";
import type { AttemptResult, CircuitSettings } from "./circuit.ts";
import { afterAttempts, type ProviderState, unknownProvider } from "./provider-state.ts";
import type { ProviderStateStore } from "./provider-state-store.ts";

/** Maximum age of what is known of other replicas' results, in milliseconds. */
const FRESH_MS = 1_000;
/** How long results that change nothing for other replicas wait for the next write, in milliseconds. */
const GATHER_MS = 1_000;
/** Maximum number of results per provider that wait for the database; the oldest are dropped first. */
const MAX_WAITING = 1_000;

interface Entry {
  stored: ProviderState;
  /** Results that are not stored for certain. While they are being written, a read may or may not include them. */
  waiting: readonly AttemptResult[];
  /** `stored` with the results in `waiting` applied. */
  view: ProviderState;
  writing?: Promise<void> | undefined;
}

/** The providers' states as this replica knows them: the stored states plus its own results that are not stored yet. */
export function createSharedStates(options: {
  store: Pick<ProviderStateStore, "readAll" | "add">;
  settings: CircuitSettings;
  now: () => Date;
  logger: Logger;
  /** Rejects where a database operation takes too long. */
  limit: <T>(work: Promise<T>) => Promise<T>;
}) {
  const { store, settings, now, logger, limit } = options;
  const entries = new Map<string, Entry>();
  let readAt = 0;
  let reading: Promise<void> | undefined;
  let isUnavailable = false;
  let gathering: NodeJS.Timeout | undefined;

  function entryOf(provider: string): Entry {
    const entry = entries.get(provider) ?? { stored: unknownProvider, waiting: [], view: unknownProvider };
    entries.set(provider, entry);
    return entry;
  }

  /** Takes over a state that has just been stored. */
  function adopt(provider: string, stored: ProviderState): void {
    const entry = entryOf(provider);
    if (stored.revision >= entry.stored.revision) entry.stored = stored;
    entry.view = afterAttempts(entry.stored, entry.waiting, settings);
  }

  function report(err: unknown): void {
    if (!isUnavailable)
      logger.warn({ err }, "the providers' shared state is unavailable; this replica goes on with its own");
    isUnavailable = true;
  }

  async function read(): Promise<void> {
    readAt = now().getTime();
    try {
      const states = await limit(store.readAll());
      isUnavailable = false;
      for (const [provider, state] of states) if (!entryOf(provider).writing) adopt(provider, state);
    } catch (err) {
      report(err);
    }
  }

  async function write(provider: string, entry: Entry): Promise<void> {
    while (entry.waiting.length > 0) {
      const written = new Set(entry.waiting);
      try {
        const stored = await store.add(provider, [...written]);
        entry.waiting = entry.waiting.filter((result) => !written.has(result));
        adopt(provider, stored);
      } catch (err) {
        report(err);
        return gather();
      }
    }
  }

  function startWrite(provider: string, entry: Entry): Promise<void> {
    // A result is stored even after the deadline of the call it came from.
    entry.writing ??= withoutDeadline(() => write(provider, entry)).finally(() => {
      entry.writing = undefined;
    });
    return entry.writing;
  }

  /** Stores all results; where that fails, they stay in memory. */
  async function flush(): Promise<void> {
    clearTimeout(gathering);
    gathering = undefined;
    await Promise.all([...entries].map(([provider, entry]) => startWrite(provider, entry)));
  }

  function gather(): void {
    gathering ??= setTimeout(() => void flush(), GATHER_MS).unref();
  }

  return {
    of: (provider: string): ProviderState => entries.get(provider)?.view ?? unknownProvider,
    /** Reads the stored states, unless that was done in the last second. A failed read is logged, and no error. */
    async refresh({ evenIfFresh } = { evenIfFresh: false }): Promise<void> {
      const age = now().getTime() - readAt;
      if (!evenIfFresh && !reading && age >= 0 && age < FRESH_MS) return;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
    adopt,
    /** Applies a result here, and stores it in the background: immediately where it matters to other replicas. */
    add(provider: string, result: AttemptResult): void {
      const entry = entryOf(provider);
      const { circuit } = entry.view;
      entry.waiting = [...entry.waiting, result].slice(-MAX_WAITING);
      entry.view = afterAttempts(entry.view, [result], settings);
      const matters = result.kind === "fault" || result.shutUntil || circuit.faults_in_row > 0 || circuit.open_until;
      if (matters) void startWrite(provider, entry);
      else gather();
    },
    flush,
  };
}
