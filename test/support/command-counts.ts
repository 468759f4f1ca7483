import { eventually } from "@vvs/testing";
import type { Db, Document, MongoClient } from "mongodb";
import { sharedProduct } from "./product.ts";

/** The databases of the services that calls reach; account only counts and logs them, in batches of its own. */
const SERVICES = ["entity", "verification", "monitor", "change-detector"] as const;
/** Collections that are polled or renewed whatever calls come. */
const BACKGROUND =
  /\.(system\.|.*_relays|.*_shards|turns|provider_state|registry_announcements|registry_locks|audit_entries)/;

/** The MongoDB commands of the product while some work is done, by service, command and collection. */
export type CommandCounts = Readonly<Record<string, number>>;

/**
 * Counts the commands that the product's services send to MongoDB during `work`, and until `isSettled`: what follows calls in
 * outboxes and consumers is part of their cost. The server's profiler counts them, so no process is changed for it. Polls that
 * find nothing don't count; a transaction's commit does.
 */
export async function commandsDuring(
  client: MongoClient,
  environment: "live" | "sandbox",
  work: () => Promise<unknown>,
  isSettled: () => Promise<boolean>,
): Promise<CommandCounts> {
  const { prefix } = sharedProduct();
  const databases = SERVICES.map((service) => client.db(`${prefix}${service.replaceAll("-", "_")}_${environment}`));
  for (const db of databases) await db.command({ profile: 2 });
  try {
    await work();
    await eventually(isSettled);
  } finally {
    for (const db of databases) await db.command({ profile: 0 });
  }
  const counts = new Map<string, number>();
  for (const [index, db] of databases.entries()) {
    for (const name of await namesOf(db)) {
      const key = `${SERVICES[index]} ${name}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    await db.collection("system.profile").drop();
  }
  return Object.fromEntries([...counts].toSorted());
}

/** Returns the sum of all counts. */
export const total = (counts: CommandCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

async function namesOf(db: Db): Promise<string[]> {
  const entries = await db.collection<Document & { ns: string }>("system.profile").find({}).toArray();
  const counted = entries.filter((entry) => !BACKGROUND.test(entry.ns) && !isEmptyPoll(entry));
  const transactions = new Set(
    counted.flatMap(({ command }) =>
      command?.txnNumber === undefined ? [] : `${command.lsid?.id} ${command.txnNumber}`,
    ),
  );
  const names = counted.map(({ ns, op, command }) => {
    const collection = ns.slice(db.databaseName.length + 1);
    return `${op === "command" ? Object.keys(command)[0] : op} ${collection}`;
  });
  return [...names, ...[...transactions].map(() => "commit")];
}

/** A look into an outbox or a schedule that finds nothing, or a stream that waits. */
function isEmptyPoll({ op, nreturned = 0, command }: Document): boolean {
  return (
    op === "getmore" ||
    (command?.find !== undefined && nreturned === 0 && /outbox|monitors|runs|deliveries|events/.test(command.find))
  );
}
