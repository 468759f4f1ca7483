import { afterEach, beforeAll, beforeEach } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { type PlayedSubscriber, playSubscriber } from "./played-subscriber.ts";
import { type Replica, startReplica } from "./replica.ts";
import { type TestStore, testStore } from "./test-store.ts";

/** For the tests of a file: an empty store for each, and replicas and subscribers that end after it. */
export function deliveryTest() {
  const test = {} as TestStore;
  const subscribers: PlayedSubscriber[] = [];
  const replicas: Replica[] = [];

  beforeAll(async () => void Object.assign(test, await testStore()));
  beforeEach(async () => {
    for (const { name } of await test.db.listCollections().toArray()) await test.db.collection(name).deleteMany({});
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
    await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.close()));
  });

  return {
    store: test,
    async subscriber(answer?: Parameters<typeof playSubscriber>[0]): Promise<PlayedSubscriber> {
      const played = await playSubscriber(answer);
      subscribers.push(played);
      return played;
    },
    replica(options?: Parameters<typeof startReplica>[1], db = test.db): Replica {
      const started = startReplica(db, options);
      replicas.push(started);
      return started;
    },
    /** Waits until this number of deliveries is delivered. */
    delivered: (count: number) =>
      eventually(async () => (await test.deliveries.countDocuments({ status: "delivered" })) === count),
  };
}
