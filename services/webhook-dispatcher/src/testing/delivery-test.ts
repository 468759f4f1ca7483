import { afterEach, beforeEach } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { createTestDeliveries } from "./deliveries.ts";
import { type PlayedSubscriber, playSubscriber } from "./played-subscriber.ts";
import { type Replica, startReplica } from "./replica.ts";

/** For the tests of a file: an empty store for each, and replicas and subscribers that end after it. */
export async function deliveryTest() {
  const store = await createTestDeliveries();
  const subscribers: PlayedSubscriber[] = [];
  const replicas: Replica[] = [];

  beforeEach(() => store.clear());
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
    await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.close()));
  });

  return {
    store,
    async subscriber(answer?: Parameters<typeof playSubscriber>[0]): Promise<PlayedSubscriber> {
      const played = await playSubscriber(answer);
      subscribers.push(played);
      return played;
    },
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
