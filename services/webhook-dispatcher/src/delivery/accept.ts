import { randomUUID } from "node:crypto";
import { isId } from "@vvs/ids";
import { type BatchItem, changesIn, PoisonRecordError, runIn, tenantIn, timeIn } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import type { Environment } from "@vvs/tenant";
import { destinationOf, endpointOf } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import { type Delivery, deliveryId } from "../model/delivery.ts";
import { heldUntil } from "../model/retry-schedule.ts";
import type { DueSignals } from "./due-signals.ts";
import type { Engine } from "./engine.ts";
import type { MonitorOrder } from "./monitor-order.ts";
import type { MonitorUrl, MonitorUrls } from "./monitor-urls.ts";
import type { OverLimit } from "./sandbox-limit.ts";
import { blocked, type DeliveryStore } from "./store.ts";
import type { Unblocker } from "./unblocker.ts";

/** Maximum number of leased events per monitor; later ones are blocked in the store. */
const MAX_LEASED_PER_MONITOR = 50;
/** Longest time for which a full queue keeps further records waiting in Kafka, in milliseconds. */
const LONGEST_WAIT_MS = 250;

type Record = BatchItem<typeof WebhookRequestedSchema>;

/**
 * Where an accepted event goes. `leased`: it is sent as soon as there is a slot. `held`: its endpoint is busy or fails.
 * `blocked`: it waits for an earlier event of its monitor.
 */
type Place = "leased" | "held" | "blocked";

/**
 * Accepts webhook.requested records, many by one write: one delivery per event, however often its record comes. What can
 * be sent immediately is leased by that same write, the rest waits in the store. Makes no HTTP call.
 */
export function createAcceptor(options: {
  environment: Environment;
  store: Pick<DeliveryStore, "insert" | "monitorHeads" | "postpone">;
  urls: Pick<MonitorUrls, "change" | "apply">;
  endpoints: Pick<EndpointCache, "load">;
  engine: Pick<Engine, "roomFor" | "add" | "releaseOf" | "waitForRoom">;
  order: Pick<MonitorOrder<unknown>, "state" | "length" | "hasStored" | "noteStored" | "noteNoneStored">;
  signals: Pick<DueSignals, "noteHeld">;
  unblocker: Pick<Unblocker, "unblockNext">;
  metrics: Pick<DeliveryMetrics, "accepted" | "overLimit">;
  /** Selects deliveries that are stored but not sent. */
  overLimit: OverLimit;
  /** Duration of a lease, in milliseconds. */
  leaseMs: number;
  logger: Logger;
  now: () => Date;
}): (records: readonly Record[]) => Promise<void> {
  const { environment, store, urls, endpoints, engine, order, unblocker, logger, now } = options;

  /** Reads whether the store has events of the monitors of which this replica has leased none. */
  async function readStored(deliveries: readonly Delivery[]): Promise<void> {
    const unknown = new Set(
      deliveries.map(({ monitor_id }) => monitor_id).filter((id) => order.state(id) === "unknown"),
    );
    if (unknown.size === 0) return;
    const owed = new Set((await store.monitorHeads([...unknown])).map(({ monitor_id }) => monitor_id));
    for (const id of unknown) if (!owed.has(id)) order.noteNoneStored(id);
    for (const id of owed) order.noteStored(id);
  }

  function unblockIdle(monitorIds: Iterable<string>): void {
    for (const id of monitorIds) if (order.length(id) === 0) unblocker.unblockNext(id);
  }

  /** Returns the places of the events of one batch, by their order. */
  function placesOf(deliveries: readonly Delivery[]): Place[] {
    /** Monitors of which an event of this batch goes to the store. */
    const stored = new Set<string>();
    const leased = new Map<string, number>();
    const room = new Map<string, number>();

    function placeOf({ monitor_id, ...destination }: Delivery): Place {
      const ahead = order.length(monitor_id) + (leased.get(monitor_id) ?? 0);
      if (stored.has(monitor_id) || order.hasStored(monitor_id) || ahead >= MAX_LEASED_PER_MONITOR) return "blocked";
      if (ahead > 0) return "leased";
      const left = room.get(destination.endpoint_id) ?? engine.roomFor(endpointOf(destination));
      room.set(destination.endpoint_id, left - 1);
      return left > 0 ? "leased" : "held";
    }

    return deliveries.map((delivery) => {
      const place = placeOf(delivery);
      if (place === "leased") leased.set(delivery.monitor_id, (leased.get(delivery.monitor_id) ?? 0) + 1);
      else stored.add(delivery.monitor_id);
      return place;
    });
  }

  async function acceptEvents(deliveries: readonly Delivery[], at: Date): Promise<void> {
    await Promise.all([endpoints.load(deliveries.map(endpointOf)), readStored(deliveries)]);
    const fieldsOf = {
      leased: { lease: randomUUID(), next_attempt_at: new Date(at.getTime() + options.leaseMs) },
      held: { held: true, next_attempt_at: heldUntil(at, at) },
      blocked: { next_attempt_at: null },
    } as const;
    const places = placesOf(deliveries);
    const placed = deliveries.map((delivery, index) => ({ ...delivery, ...fieldsOf[places[index]!] }) as Delivery);
    const known = await store.insert(placed);
    const outdated = await urls.apply(placed);
    const isLeased = ({ lease, monitor_id }: Delivery) => lease !== undefined && !outdated.has(monitor_id);
    // Leased events of monitors with a newer URL are given back: the due poller reads them again, with that URL.
    await store.postpone(placed.filter((delivery) => delivery.lease && !isLeased(delivery)).map(blocked));
    // The replica that accepted a known event first may be attempting it now: those behind it wait in the store.
    const begun = new Set(placed.filter(({ _id }) => known.has(_id)).map(({ monitor_id }) => monitor_id));
    const added = placed.filter(({ _id }) => !known.has(_id));
    for (const { monitor_id } of added) if (begun.has(monitor_id)) order.noteStored(monitor_id);
    for (const delivery of added) {
      if (isLeased(delivery)) engine.add(delivery, { priority: "first" });
      else if (delivery.held) options.signals.noteHeld(endpointOf(delivery));
    }
    const stored = placed.filter((delivery) => !isLeased(delivery));
    for (const { monitor_id } of stored) order.noteStored(monitor_id);
    // The events before a blocked one may have ended while it was written, and found nothing behind them.
    unblockIdle(new Set(stored.filter(({ held }) => !held).map(({ monitor_id }) => monitor_id)));
    const accepted = placed.length - known.size;
    options.metrics.accepted(accepted);
    logger.info({ accepted, known_before: known.size }, "webhook events accepted");
    await engine.waitForRoom(LONGEST_WAIT_MS);
  }

  /** Stores deliveries that are not sent, as failed. Returns the others. */
  async function withinLimit(deliveries: readonly Delivery[], at: Date): Promise<Delivery[]> {
    const over = await options.overLimit(deliveries, at);
    const { refused = [], rest = [] } = Object.groupBy(deliveries, ({ _id }) => (over.has(_id) ? "refused" : "rest"));
    if (refused.length === 0) return rest;
    await store.insert(
      refused.map(({ first_attempt_owed: _owed, ...delivery }) => ({
        ...delivery,
        status: "failed",
        failure: "sandbox_limit",
        next_attempt_at: null,
      })),
    );
    options.metrics.overLimit(refused.length);
    logger.warn({ count: refused.length }, "sandbox events over the hourly limit are not delivered");
    return rest;
  }

  return async (records) => {
    const at = now();
    const { changes = [], events = [] } = Object.groupBy(records, ({ message }) =>
      message.urlChanged ? "changes" : "events",
    );
    const changed = changes.map((record) => urlOf(record, environment));
    const accepted = events.map((record) => deliveryOf(record, environment, at));
    await urls.change(changed);
    if (changed.length > 0) engine.releaseOf(new Set(changed.map(({ _id }) => _id)));
    unblockIdle(changed.map(({ _id }) => _id));
    const deliveries = new Map(accepted.map((delivery) => [delivery._id, delivery]));
    const sent = await withinLimit([...deliveries.values()], at);
    if (sent.length > 0) await acceptEvents(sent, at);
  };
}

function deliveryOf({ message, trace }: Record, environment: Environment, at: Date): Delivery {
  const { eventId, entityId, verificationId, externalId, webhookUrl } = message;
  const { organizationId } = tenantIn(message, environment);
  const { monitorId, runSeq } = runIn(message);
  const version = versionIn(message);
  if (!isId("evt", eventId) || !entityId || !verificationId || !isUrl(webhookUrl))
    throw new PoisonRecordError("the record lacks an event, an entity, a verification or a valid URL");
  return {
    // An event has only one delivery.
    _id: deliveryId(eventId),
    organization_id: organizationId,
    event_id: eventId,
    monitor_id: monitorId,
    run_seq: runSeq,
    entity_id: entityId,
    verification_id: verificationId,
    ...(externalId && { external_id: externalId }),
    ...destinationOf(organizationId, webhookUrl),
    ...(version > 0 && { url_version: version }),
    changes: changesIn(message),
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
  const { webhookUrl } = message;
  const { organizationId } = tenantIn(message, environment);
  const { monitorId } = runIn(message);
  const version = versionIn(message);
  if (version === 0 || (webhookUrl !== "" && !isUrl(webhookUrl)))
    throw new PoisonRecordError("the record contains no valid URL of a monitor");
  return { _id: monitorId, organization_id: organizationId, url: webhookUrl || null, version };
}

/** Returns the number of a monitor's URL; 0 before the first change. Errors: PoisonRecordError. */
function versionIn({ urlVersion }: Record["message"]): number {
  if (urlVersion < 0n || urlVersion > Number.MAX_SAFE_INTEGER)
    throw new PoisonRecordError("the record contains no valid number of a monitor's URL");
  return Number(urlVersion);
}

const isUrl = (text: string) => /^https?:/.test(text) && URL.canParse(text);
