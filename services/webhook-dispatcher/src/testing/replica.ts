import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createGuardedAgent, createSystemLookup } from "@vvs/egress";
import { newId } from "@vvs/ids";
import { Environment } from "@vvs/proto/common/v1/common";
import { type WebhookRequested, WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { captureLogs, type LogLine } from "@vvs/testing";
import type { Db } from "mongodb";
import { type DeliveryOptions, type RunningDelivery, startDelivery } from "../domain.ts";

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export interface Replica extends RunningDelivery {
  /** The lines of its log. */
  readonly lines: readonly LogLine[];
  /** Accepts events, as from Kafka. */
  take(...events: WebhookRequested[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the delivery of one environment in this process, on a database that several replicas may share. */
export function startReplica(db: Db, options: Partial<DeliveryOptions> = {}): Replica {
  const { logger, lines } = captureLogs();
  const stopping = new AbortController();
  const dispatcher = createGuardedAgent({
    allowPrivateTargets: true,
    connectTimeoutMs: 2_000,
    connectionsPerOrigin: 1_000,
    resolveAll: createSystemLookup(),
  });
  const delivery = startDelivery({
    environment: "live",
    db,
    connections: { to: async () => dispatcher },
    askSecrets: async () => ({ secrets: [SECRET], privateHosts: [] }),
    userAgent: "test",
    timeoutMs: 15_000,
    pools: {
      fast: { slots: 64, slotsPerOrganization: 64 },
      slow: { slots: 64, slotsPerOrganization: 32 },
      perHost: { slots: 128, slotsPerOrganization: 128 },
    },
    limitPerUrl: 16,
    overLimit: async () => new Set(),
    stopping: stopping.signal,
    logger,
    now: () => new Date(),
    ...options,
  });
  return {
    ...delivery,
    lines,
    take: (...events) => delivery.accept(events.map((message) => ({ message, trace: {} }))),
    async stop() {
      stopping.abort();
      // Ends attempts that would hang until they time out.
      await dispatcher.destroy();
      await delivery.ended();
    },
  };
}

/** Returns a request to send an event to a subscriber. */
export function changeEvent(
  url: string,
  more: { monitorId?: string; runSeq?: number; organizationId?: string; externalId?: string } = {},
) {
  const at = new Date();
  return create(WebhookRequestedSchema, {
    eventId: newId("evt", at),
    tenant: { organizationId: more.organizationId ?? "org_1", environment: Environment.LIVE },
    run: { monitorId: more.monitorId ?? newId("mon"), runSeq: BigInt(more.runSeq ?? 1) },
    entityId: newId("ent", at),
    verificationId: newId("ver", at),
    externalId: more.externalId,
    webhookUrl: url,
    changes: [{ field: "sam_registration.registration_status", previous: "active", current: "expired" }],
    detectedAt: timestampFromDate(at),
  });
}

/** Returns the record of a new URL of an event's monitor; empty: the URL was removed. */
export function urlChange(event: WebhookRequested, webhookUrl: string, urlVersion = 1n) {
  const { tenant, run } = event;
  return create(WebhookRequestedSchema, { tenant, run, webhookUrl, urlVersion, urlChanged: true });
}
