import type { CommandStartedEvent, MongoClient } from "mongodb";

/** What keeps connections, leases and gauges going, whatever calls come. */
const BACKGROUND = /^(hello|ping|endSessions|getMore) |(_relays|_shards|provider_state)$/;

/** Numbers of MongoDB commands, by command and collection. */
export type CommandCounts = Readonly<Record<string, number>>;

/** Returns a connection string whose clients report their commands. */
export const monitored = (uri: string) => `${uri}${uri.includes("?") ? "&" : "/?"}monitorCommands=true`;

/** Counts the commands that clients send during `work`, which must include what follows calls in outboxes and consumers. */
export async function commandsDuring(
  clients: readonly MongoClient[],
  work: () => Promise<unknown>,
): Promise<CommandCounts> {
  const names: string[] = [];
  const note = ({ commandName, command, databaseName }: CommandStartedEvent) => {
    const target: unknown = command[commandName];
    names.push(`${commandName} ${typeof target === "string" ? target : databaseName}`);
  };
  for (const client of clients) client.on("commandStarted", note);
  try {
    await work();
  } finally {
    for (const client of clients) client.off("commandStarted", note);
  }
  const counted = Map.groupBy(names.filter((name) => !BACKGROUND.test(name)).toSorted(), (name) => name);
  return Object.fromEntries([...counted].map(([name, all]) => [name, all.length]));
}

/** Returns the sum of all counts. */
export const total = (counts: CommandCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
