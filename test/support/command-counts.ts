import type { CommandStartedEvent, CommandSucceededEvent, MongoClient } from "mongodb";

/** Commands that are sent from time to time and not for a call: for connections, leases, gauges, and counted attempts. */
const BACKGROUND = /^(hello|ping|endSessions|getMore) |(_relays|_shards|provider_state|provider_attempts)$/;
const READ_OUTBOX = "find outbox";

type FindReply = { readonly cursor: { readonly firstBatch: readonly unknown[] } };

/** Numbers of MongoDB commands, by command and collection. */
export type CommandCounts = Readonly<Record<string, number>>;

/** Returns a connection string whose clients report their commands. */
export const monitored = (uri: string) => `${uri}${uri.includes("?") ? "&" : "/?"}monitorCommands=true`;

/**
 * Counts the commands that clients send during `work`, which must include what follows calls in outboxes and consumers. Reads
 * of an empty outbox don't count: there are more of them, the slower the machine is.
 */
export async function commandsDuring(
  clients: readonly MongoClient[],
  work: () => Promise<unknown>,
): Promise<CommandCounts> {
  const names = new Map<number, string>();
  const note = ({ requestId, commandName, command, databaseName }: CommandStartedEvent) => {
    const target: unknown = command[commandName];
    names.set(requestId, `${commandName} ${typeof target === "string" ? target : databaseName}`);
  };
  /** Reads of the outbox that found something, unlike those that are still under way at the end. */
  const filled = new Set<number>();
  const noteFilled = ({ requestId, reply }: CommandSucceededEvent) => {
    if (names.get(requestId) === READ_OUTBOX && (reply as FindReply).cursor.firstBatch.length > 0)
      filled.add(requestId);
  };
  for (const client of clients) client.on("commandStarted", note).on("commandSucceeded", noteFilled);
  try {
    await work();
  } finally {
    for (const client of clients) client.off("commandStarted", note).off("commandSucceeded", noteFilled);
  }
  const isCounted = ([id, name]: [number, string]) => (name === READ_OUTBOX ? filled.has(id) : !BACKGROUND.test(name));
  const counted = Map.groupBy(
    [...names]
      .filter(isCounted)
      .map(([, name]) => name)
      .toSorted(),
    (name) => name,
  );
  return Object.fromEntries([...counted].map(([name, all]) => [name, all.length]));
}

/** Returns the sum of all counts. */
export const total = (counts: CommandCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
