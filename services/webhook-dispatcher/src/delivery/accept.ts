import { randomUUID } from "node:crypto";
import { isId } from "@vvs/ids";
import { type BatchItem, PoisonRecordError, runIn, tenantIn, timeIn } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import type { Environment } from "@vvs/tenant";
import { destinationOf, endpointOf } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import type { Delivery } from "./delivery.ts";
import type { DueSignals } from "./due-signals.ts";
import type { Engine } from "./engine.ts";
import { heldUntil } from "./hold.ts";
import type { MonitorOrder } from "./monitor-order.ts";
import type { MonitorUrl, MonitorUrls } from "./monitor-urls.ts";
import type { DeliveryStore, Release } from "./store.ts";
import type { Unblocker } from "./unblocker.ts";

/** Maximum number of leased events per monitor; later ones are blocked in the store. */
const MAX_LEASED_PER_MONITOR = 50;
/** Longest time for which a full queue keeps further records waiting in Kafka, in milliseconds. */
const LONGEST_WAIT_MS = 250;

type Record = BatchItem<typeof WebhookRequestedSchema>;

export interface AcceptorOptions {
  readonly environment: Environment;
  readonly store: Pick<DeliveryStore, "insert" | "monitorHeads" | "release">;
  readonly urls: Pick<MonitorUrls, "change" | "apply">;
  readonly endpoints: Pick<EndpointCache, "load">;
  readonly engine: Pick<Engine, "roomFor" | "add" | "waitForRoom">;
  readonly order: Pick<MonitorOrder<unknown>, "state" | "length" | "hasStored" | "noteStored" | "noteNoneStored">;
  readonly signals: Pick<DueSignals, "noteHeld">;
  readonly unblocker: Pick<Unblocker, "unblockNext">;
  readonly metrics: Pick<DeliveryMetrics, "accepted">;
  /** Duration of a lease, in milliseconds. */
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly now: () => Date;
}

/**
 * Accepts webhook.requested records, many by one write: one delivery per event, however often its record comes. What can
 * be sent immediately is leased by that same write, the rest waits in the store. Makes no HTTP call.
 */
export function createAcceptor(options: AcceptorOptions): (records: readonly Record[]) => Promise<void> {
  const { store, endpoints, engine, order, unblocker, logger, now } = options;

  /** Asks the store for events of the monitors of which this replica has leased none. */
  async function askForStored(deliveries: readonly Delivery[]): Promise<void> {
    const unknown = new Set(
      deliveries.map(({ monitor_id }) => monitor_id).filter((id) => order.state(id) === "unknown"),
    );
    if (unknown.size === 0) return;
    const owed = new Set((await store.monitorHeads([...unknown])).map(({ _id }) => _id));
    for (const id of unknown) if (!owed.has(id)) order.noteNoneStored(id);
    for (const id of owed) order.noteStored(id);
  }

  function unblockIdle(monitorIds: Iterable<string>): void {
    for (const id of monitorIds) if (order.length(id) === 0) unblocker.unblockNext(id);
  }

  /** Gives leased events of monitors with a newer URL back: the due poller reads them again, with that URL. */
  async function blockOutdated(placed: readonly Delivery[], places: Place[], outdated: ReadonlySet<string>) {
    const releases: Release[] = [];
    placed.forEach((delivery, index) => {
      if (places[index] !== "leased" || !outdated.has(delivery.monitor_id)) return;
      places[index] = "blocked";
      releases.push({ delivery, nextAttemptAt: null, held: false });
    });
    await store.release(releases);
  }

  return async (records) => {
    const at = now();
    const changes = records.filter(({ message }) => message.urlChanged);
    const events = records.filter(({ message }) => !message.urlChanged);
    const changed = changes.map((record) => urlOf(record, options.environment));
    const all = events.map((record) => deliveryOf(record, options.environment, at));
    await options.urls.change(changed);
    unblockIdle(changed.map(({ _id }) => _id));
    if (all.length === 0) return;
    const deliveries = [...new Map(all.map((delivery) => [delivery._id, delivery])).values()];
    await Promise.all([endpoints.load(deliveries.map(endpointOf)), askForStored(deliveries)]);
    const lease = { lease: randomUUID(), next_attempt_at: new Date(at.getTime() + options.leaseMs) };
    const places = createPlan(options).placesOf(deliveries);
    const placed = deliveries.map((delivery, index): Delivery => {
      if (places[index] === "leased") return { ...delivery, ...lease };
      if (places[index] === "blocked") return { ...delivery, next_attempt_at: null };
      return { ...delivery, held: true, next_attempt_at: heldUntil(at, at) };
    });
    const known = await store.insert(placed);
    const outdated = await options.urls.apply(placed);
    await blockOutdated(placed, places, outdated);
    // The replica that accepted a known event first may be attempting it now: those behind it wait in the store.
    const begun = new Set(placed.filter(({ _id }) => known.has(_id)).map(({ monitor_id }) => monitor_id));
    for (const { _id, monitor_id } of placed)
      if (begun.has(monitor_id) && !known.has(_id)) order.noteStored(monitor_id);
    placed.forEach((delivery, index) => {
      if (known.has(delivery._id)) return;
      if (places[index] === "leased") engine.add(delivery, { priority: "first" });
      if (places[index] === "held") options.signals.noteHeld(endpointOf(delivery));
    });
    placed.forEach(({ monitor_id }, index) => {
      if (places[index] !== "leased") order.noteStored(monitor_id);
    });
    // The events before a blocked one may have ended while it was written, and found nothing behind them.
    const blocked = placed.filter((_delivery, index) => places[index] === "blocked");
    unblockIdle(new Set(blocked.map(({ monitor_id }) => monitor_id)));
    const accepted = placed.length - known.size;
    options.metrics.accepted(accepted);
    logger.info({ accepted, known_before: known.size }, "webhook events accepted");
    await engine.waitForRoom(LONGEST_WAIT_MS);
  };
}

/**
 * Where an accepted event goes. `leased`: it is sent as soon as there is a slot. `held`: its endpoint is busy or fails.
 * `blocked`: it waits for an earlier event of its monitor.
 */
type Place = "leased" | "held" | "blocked";

function createPlan({ engine, order }: Pick<AcceptorOptions, "engine" | "order">) {
  /** Monitors of which an event of this batch goes to the store. */
  const stored = new Set<string>();
  const leased = new Map<string, number>();
  const room = new Map<string, number>();

  function placeOf(delivery: Delivery): Place {
    const { monitor_id } = delivery;
    const ahead = order.length(monitor_id) + (leased.get(monitor_id) ?? 0);
    if (stored.has(monitor_id) || order.hasStored(monitor_id) || ahead >= MAX_LEASED_PER_MONITOR) return "blocked";
    if (ahead > 0) return "leased";
    const left = room.get(delivery.endpoint_id) ?? engine.roomFor(endpointOf(delivery));
    room.set(delivery.endpoint_id, left - 1);
    return left > 0 ? "leased" : "held";
  }

  return {
    placesOf: (deliveries: readonly Delivery[]): Place[] =>
      deliveries.map((delivery) => {
        const place = placeOf(delivery);
        if (place === "leased") leased.set(delivery.monitor_id, (leased.get(delivery.monitor_id) ?? 0) + 1);
        else stored.add(delivery.monitor_id);
        return place;
      }),
  };
}

function deliveryOf({ message, trace }: Record, environment: Environment, at: Date): Delivery {
  const { eventId, entityId, verificationId, webhookUrl, changes } = message;
  const { organizationId } = tenantIn(message, environment);
  const { monitorId, runSeq } = runIn(message);
  if (!isId("evt", eventId) || !entityId || !verificationId || !isUrl(webhookUrl))
    throw new PoisonRecordError("the record lacks an event, an entity, a verification or a valid URL");
  if (changes.length === 0 || changes.some(({ field }) => !field))
    throw new PoisonRecordError("the record contains no change");
  return {
    _id: deliveryIdOf(eventId),
    organization_id: organizationId,
    event_id: eventId,
    monitor_id: monitorId,
    run_seq: runSeq,
    entity_id: entityId,
    verification_id: verificationId,
    ...destinationOf(organizationId, webhookUrl),
    ...(message.urlVersion > 0n && { url_version: Number(message.urlVersion) }),
    changes: changes.map(({ field, previous, current }) => ({
      field,
      previous: previous ?? null,
      current: current ?? null,
    })),
    detected_at: timeIn(message.detectedAt),
    status: "pending",
    attempts: [],
    next_attempt_at: at,
    due_at: at,
    first_attempt_owed: true,
    trace,
    created_at: at,
  };
}

/** Returns a monitor's new URL. Errors: PoisonRecordError. */
function urlOf({ message }: Record, environment: Environment): MonitorUrl {
  const { webhookUrl, urlVersion } = message;
  const { organizationId } = tenantIn(message, environment);
  const { monitorId } = runIn(message);
  if (urlVersion < 1n || (webhookUrl !== "" && !isUrl(webhookUrl)))
    throw new PoisonRecordError("the record contains no valid URL of a monitor");
  return { _id: monitorId, organization_id: organizationId, url: webhookUrl || null, version: Number(urlVersion) };
}

const isUrl = (text: string) => /^https?:/.test(text) && URL.canParse(text);

/** Returns the id of an event's only delivery: the event's id with another prefix. */
function deliveryIdOf(eventId: string): string {
  return `dlv_${eventId.slice("evt_".length)}`;
}
