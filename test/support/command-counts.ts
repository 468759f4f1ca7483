import type { CommandStartedEvent, CommandSucceededEvent, MongoClient } from "mongodb";

/** What keeps connections, leases and gauges going, whatever calls come. */
const BACKGROUND = /^(hello|ping|endSessions|getMore) |(_relays|_shards|provider_state)$/;

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
  const forgetEmpty = ({ requestId, reply }: CommandSucceededEvent) => {
    if (names.get(requestId) === "find outbox" && (reply as FindReply).cursor.firstBatch.length === 0)
      names.delete(requestId);
  };
  for (const client of clients) client.on("commandStarted", note).on("commandSucceeded", forgetEmpty);
  try {
    await work();
  } finally {
    for (const client of clients) client.off("commandStarted", note).off("commandSucceeded", forgetEmpty);
  }
  const counted = Map.groupBy([...names.values()].filter((name) => !BACKGROUND.test(name)).toSorted(), (name) => name);
  return Object.fromEntries([...counted].map(([name, all]) => [name, all.length]));
}

/** Returns the sum of all counts. */
export const total = (counts: CommandCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
