import { type Command, mongoProxy } from "@vvs/testing";
import type { PlayedQueue } from "./played-queue.ts";
import type { TestService } from "./service.ts";

const READS = new Set(["find", "aggregate", "getMore"]);

/** What a replica does until it is killed. */
export interface KilledWork {
  /** The work of the replica that is killed. */
  readonly work: () => Promise<unknown>;
  /** What another replica does after the kill. */
  readonly recover: () => Promise<unknown>;
  /** Expects that all was done once, whether by one replica or by two. */
  readonly check: () => Promise<void>;
}

/**
 * Has a new replica do some work, and kills it at its first write to these collections, then does it again and kills it at
 * its second one, and so on until the work ends before its replica is killed. Returns the number of kills.
 */
export async function killAtEachWrite(
  queue: Pick<PlayedQueue, "startReplica" | "freeAsker" | "stopReplicas">,
  {
    when,
    collections,
    variables,
  }: {
    readonly when: "before" | "after";
    readonly collections: readonly string[];
    readonly variables?: NodeJS.ProcessEnv;
  },
  /** Prepares the work of a replica. `id`: the time of the kill, in five characters. */
  prepare: (replica: TestService, id: string) => Promise<KilledWork>,
): Promise<number> {
  const isStep = ({ name, collection }: Command) =>
    name === "commitTransaction" || (collections.includes(collection) && !READS.has(name));
  for (let number = 0; ; number++) {
    const proxy = await mongoProxy(process.env.MONGODB_URI!);
    // The next replica waits for their end; nobody else claims anything before the kill.
    const leases = { askerLeaseMs: 50, resumeLeaseMs: 50 };
    const replica = await queue.startReplica(variables, { mongodbUri: proxy.uri, queue: leases });
    await queue.freeAsker();
    const id = `${when === "before" ? "B" : "A"}${String(number).padStart(4, "0")}`;
    const { work, recover, check } = await prepare(replica, id);
    const killed = proxy.killAt(number, when, isStep).then(() => true);
    const failed = new Promise<never>(() => undefined);
    const done = work().then(
      () => false,
      () => failed,
    );
    const wasKilled = await Promise.race([killed, done]);
    if (wasKilled) await recover();
    await check();
    proxy.release();
    await queue.stopReplicas();
    proxy.close();
    if (!wasKilled) return number;
  }
}
