import { randomUUID } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { isId } from "@vvs/ids";
import { type BatchItem, PoisonRecordError } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { tenantOf } from "@vvs/tenant";
import type { Delivery } from "./delivery.ts";
import { endpointId } from "./endpoint.ts";
import type { EndpointBook, EndpointIdentity } from "./endpoint-book.ts";
import type { Engine } from "./engine.ts";
import { heldUntil } from "./hold.ts";
import type { Lanes } from "./lanes.ts";
import type { DeliveryMetrics } from "./metrics.ts";
import type { DeliveryStore } from "./store.ts";

/** Of one monitor so many are in hand at once; those after them wait in the store. */
const LANE_LENGTH = 50;
/** How long what is being delivered may keep further events waiting in Kafka. */
const LONGEST_WAIT_MS = 250;

type Record = BatchItem<typeof WebhookRequestedSchema>;

export interface AcceptorOptions {
  readonly store: Pick<DeliveryStore, "insert" | "laneHeads">;
  readonly book: Pick<EndpointBook, "load">;
  readonly engine: Pick<Engine, "roomFor" | "add" | "hasRoom">;
  readonly lanes: Pick<Lanes<unknown>, "state" | "length" | "isElsewhere" | "noteElsewhere" | "noteNoneElsewhere">;
  readonly onHeld: (identity: EndpointIdentity) => void;
  /** Of this monitor nothing is in hand, though others may wait in the store. */
  readonly onLaneEnded: (monitorId: string) => void;
  readonly metrics: Pick<DeliveryMetrics, "accepted">;
  /** How long a delivery taken in hand stays this replica's. */
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly now: () => Date;
}

/**
 * Takes webhook.requested records over, by one write for many: one delivery per event, however often its record comes.
 * What can be sent at once is in hand from its first write on, the rest waits in the store. Makes no HTTP call.
 */
export function createAcceptor(options: AcceptorOptions): (records: readonly Record[]) => Promise<void> {
  const { store, book, engine, lanes, logger, now } = options;

  /** Asks the store about the monitors of which nothing is in hand. */
  async function lookForOwed(deliveries: readonly Delivery[]): Promise<void> {
    const unknown = new Set(
      deliveries.map(({ monitor_id }) => monitor_id).filter((id) => lanes.state(id) === "unknown"),
    );
    if (unknown.size === 0) return;
    const owed = new Set((await store.laneHeads([...unknown])).map(({ _id }) => _id));
    for (const id of unknown) if (!owed.has(id)) lanes.noteNoneElsewhere(id);
    for (const id of owed) lanes.noteElsewhere(id);
  }

  return async (records) => {
    const at = now();
    const deliveries = records.map((record) => deliveryOf(record, at));
    await Promise.all([book.load(deliveries.map(identityOf)), lookForOwed(deliveries)]);
    const leased = { lease: randomUUID(), next_attempt_at: new Date(at.getTime() + options.leaseMs) };
    const planned = createPlan(options).placesOf(deliveries);
    const placed = deliveries.map((delivery, index): Delivery => {
      if (planned[index] === "in hand") return { ...delivery, ...leased };
      if (planned[index] === "in order") return { ...delivery, next_attempt_at: null };
      return { ...delivery, held: true, next_attempt_at: heldUntil(at, at) };
    });
    const known = await store.insert(placed);
    placed.forEach((delivery, index) => {
      if (known.has(delivery._id)) return;
      if (planned[index] === "in hand") engine.add(delivery, { kind: "first" });
      if (planned[index] === "held") options.onHeld(identityOf(delivery));
    });
    placed.forEach(({ monitor_id }, index) => {
      if (planned[index] !== "in hand") lanes.noteElsewhere(monitor_id);
    });
    // What they wait for may have ended while they were written, and found nothing behind it.
    const inOrder = placed.filter((_delivery, index) => planned[index] === "in order");
    for (const id of new Set(inOrder.map(({ monitor_id }) => monitor_id)))
      if (lanes.length(id) === 0) options.onLaneEnded(id);
    const accepted = placed.length - known.size;
    options.metrics.accepted(accepted);
    logger.info({ accepted, known_before: known.size }, "webhooks requested");
    await engine.hasRoom(LONGEST_WAIT_MS);
  };
}

/** In hand: sent as soon as there is a slot. Held: its endpoint has enough, or fails. In order: others go before it. */
type Place = "in hand" | "held" | "in order";

function createPlan({ engine, lanes }: Pick<AcceptorOptions, "engine" | "lanes">) {
  const elsewhere = new Set<string>();
  const addedTo = new Map<string, number>();
  const room = new Map<string, number>();

  function placeOf(delivery: Delivery): Place {
    const { monitor_id } = delivery;
    const ahead = lanes.length(monitor_id) + (addedTo.get(monitor_id) ?? 0);
    if (elsewhere.has(monitor_id) || lanes.isElsewhere(monitor_id) || ahead >= LANE_LENGTH) return "in order";
    if (ahead > 0) return "in hand";
    const left = room.get(delivery.endpoint_id) ?? engine.roomFor(identityOf(delivery));
    room.set(delivery.endpoint_id, left - 1);
    return left > 0 ? "in hand" : "held";
  }

  return {
    placesOf: (deliveries: readonly Delivery[]): Place[] =>
      deliveries.map((delivery) => {
        const place = placeOf(delivery);
        if (place === "in hand") addedTo.set(delivery.monitor_id, (addedTo.get(delivery.monitor_id) ?? 0) + 1);
        else elsewhere.add(delivery.monitor_id);
        return place;
      }),
  };
}

function identityOf({ endpoint_id, organization_id, webhook_url }: Delivery): EndpointIdentity {
  return { _id: endpoint_id, organization_id, url: webhook_url };
}

function deliveryOf({ message, trace }: Record, at: Date): Delivery {
  const { eventId, run, detectedAt, webhookUrl } = message;
  if (!run || !detectedAt || !isId("evt", eventId) || !URL.canParse(webhookUrl)) {
    throw new PoisonRecordError("a webhook.requested record lacks its event, its run, its time or a valid URL");
  }
  const { organizationId } = tenantOf(message.tenant);
  return {
    _id: deliveryIdOf(eventId),
    organization_id: organizationId,
    event_id: eventId,
    monitor_id: run.monitorId,
    run_seq: Number(run.runSeq),
    entity_id: message.entityId,
    verification_id: message.verificationId,
    webhook_url: webhookUrl,
    endpoint_id: endpointId(organizationId, webhookUrl),
    changes: message.changes.map(({ field, previous, current }) => ({
      field,
      previous: previous ?? null,
      current: current ?? null,
    })),
    detected_at: timestampDate(detectedAt),
    status: "pending",
    attempts: [],
    next_attempt_at: at,
    due_at: at,
    first_attempt_owed: true,
    trace,
    created_at: at,
  };
}

/** The id of an event's one delivery: that of the event, under its own prefix. */
export function deliveryIdOf(eventId: string): string {
  return `dlv_${eventId.slice("evt_".length)}`;
}
