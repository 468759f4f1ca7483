import { afterEach, beforeEach } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { createTestDeliveries } from "./deliveries.ts";
import { playSubscriber } from "./played-subscriber.ts";
import { type Replica, startReplica } from "./replica.ts";

/** For the tests of a file: an empty store for each, replicas that end after it, and subscribers. */
export async function deliveryTest() {
  const store = await createTestDeliveries();
  const replicas: Replica[] = [];

  beforeEach(() => store.clear());
  afterEach(() => Promise.all(replicas.splice(0).map((replica) => replica.stop())));

  return {
    store,
    subscriber: playSubscriber,
    replica(options?: Parameters<typeof startReplica>[1], db = store.db): Replica {
      const started = startReplica(db, options);
      replicas.push(started);
      return started;
    },
    /** Waits until this number of deliveries is delivered. */
    delivered: (count: number) =>
      eventually(async () => (await store.deliveries.countDocuments({ status: "delivered" })) === count),
  };
}
