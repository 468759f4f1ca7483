import { testMongo } from "@vvs/testing";
import type { Collection, Db } from "mongodb";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { migrate } from "../migrate.ts";
import type { Delivery } from "../model/delivery.ts";

export interface TestStore {
  /** The migrated database of the live environment. */
  readonly db: Db;
  readonly deliveries: Collection<Delivery>;
  readonly endpoints: Collection<Endpoint>;
  /** Drops the databases. */
  close(): Promise<void>;
}

/** Returns migrated databases of the test's own. */
export async function testStore(): Promise<TestStore> {
  const { client, prefix, close } = await testMongo();
  await migrate({ client, prefix });
  const db = client.db(`${prefix}webhook_dispatcher_live`, { ignoreUndefined: true });
  return { db, deliveries: db.collection("deliveries"), endpoints: db.collection("endpoints"), close };
}
