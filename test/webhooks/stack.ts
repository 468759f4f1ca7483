import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@vvs/ids";
import { atEnd, eventually } from "@vvs/testing";
import type { Delivery } from "../../services/webhook-dispatcher/src/model/delivery.ts";
import {
  type DeliveryStack,
  type DeliveryStackOptions,
  startDeliveryStack,
  webhookEvent,
} from "../support/delivery-stack.ts";
import { ownPlace } from "../support/own-place.ts";
import { testServers } from "../support/test-servers.ts";

/** A dispatcher process for one test file. */
export interface TestStack extends DeliveryStack {
  /** Folder for files that a test writes. */
  readonly folder: string;
  /** Publishes a change of a new monitor, to be delivered to `url`; returns the event. */
  tell(url: string): Promise<{ eventId: string }>;
  /** Returns the delivery of an event once `fits` accepts it. */
  deliveryOf(event: { eventId: string }, fits: (delivery: Delivery) => boolean): Promise<Delivery>;
  /** Waits for a line of the dispatcher's log. */
  logged(pattern: RegExp): Promise<unknown>;
}

/** Starts it; at the end it is killed without waiting for hanging deliveries, and all its data is removed. */
export async function startTestStack(
  options: Pick<DeliveryStackOptions, "environment" | "nodeOptions"> = {},
): Promise<TestStack> {
  const { prefix, folder } = ownPlace();
  const stack = await startDeliveryStack({ servers: testServers(), prefix, folder, ...options });
  atEnd(async () => {
    // One that was started again has ended already.
    await stack.kill().catch(() => undefined);
    await stack.stop();
    await stack.remove();
  });
  return {
    ...stack,
    folder,
    async tell(url) {
      const event = webhookEvent({ organizationId: newId("org"), monitorId: newId("mon"), url });
      await stack.publish([event]);
      return event;
    },
    deliveryOf: ({ eventId }, fits) =>
      eventually(
        async () => {
          const [delivery] = await stack.deliveries({ event_id: eventId });
          return delivery && fits(delivery) && delivery;
        },
        { timeoutMs: 55_000 },
      ),
    logged: (pattern) => eventually(() => pattern.test(readFileSync(join(folder, "webhook-dispatcher.log"), "utf8"))),
  };
}
