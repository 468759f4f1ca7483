import { afterAll } from "@jest/globals";
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
}

const closes: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closes) await close();
});

/** Returns migrated databases of the test's own, which exist until the tests of the file are over. */
export async function testStore(): Promise<TestStore> {
  const { client, prefix, close } = await testMongo();
  closes.push(close);
  await migrate({ client, prefix });
  const db = client.db(`${prefix}webhook_dispatcher_live`, { ignoreUndefined: true });
  return { db, deliveries: db.collection("deliveries"), endpoints: db.collection("endpoints") };
}
