import { findPage, type Page } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import type { Db, Filter } from "mongodb";
import { type Delivery, deliveryId } from "../delivery/delivery.ts";
import { endpointId } from "../endpoints/endpoint.ts";

/** Selects deliveries; an absent field selects all. */
export interface DeliveryFilter {
  readonly monitorId?: string;
  readonly webhookUrl?: string;
  readonly status?: Delivery["status"];
  /** Accepted at this time or later. */
  readonly from?: Date;
  /** Accepted before this time. */
  readonly to?: Date;
  readonly testsOnly?: boolean;
  /** evt_…. */
  readonly eventId?: string;
}

export type DeliveryListing = ReturnType<typeof createDeliveryListing>;

/** The deliveries of one environment as users read them. */
export function createDeliveryListing(options: { db: Db }) {
  const deliveries = options.db.collection<Delivery>("deliveries");
  return {
    /** Returns the organization's deliveries, newest first, without the subscribers' answers. Errors: invalid_request. */
    async list(tenant: Tenant, filter: DeliveryFilter, page: PageRequest | undefined): Promise<Page<Delivery>> {
      const { items, next } = await findPage(deliveries, queryOf(tenant, filter), page);
      return { next, items: items.map(withoutAnswers) };
    },

    /** Returns one delivery, answers included; undefined if the organization has none with this id. */
    async find(tenant: Tenant, deliveryId: string): Promise<Delivery | undefined> {
      return (await deliveries.findOne({ _id: deliveryId, organization_id: tenant.organizationId })) ?? undefined;
    },
  };
}

function queryOf(tenant: Tenant, filter: DeliveryFilter): Filter<Delivery> {
  const { monitorId, webhookUrl, status, from, to, testsOnly, eventId } = filter;
  return {
    organization_id: tenant.organizationId,
    ...(monitorId && { monitor_id: monitorId }),
    ...(webhookUrl && { endpoint_id: endpointId(tenant.organizationId, webhookUrl) }),
    ...(status && { status }),
    ...(testsOnly && { test: true }),
    // Only the few test events have ids that do not follow from those of their events.
    ...(eventId && { $or: [{ _id: deliveryId(eventId) }, { test: true, event_id: eventId }] }),
    ...((from || to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
}

function withoutAnswers(delivery: Delivery): Delivery {
  return {
    ...delivery,
    attempts: delivery.attempts.map((attempt) => ({ ...attempt, answer_excerpt: "", signatures: undefined })),
  };
}
