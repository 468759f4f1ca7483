import { findPage, type Page } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import type { Db, Filter } from "mongodb";
import type { Delivery } from "../delivery/delivery.ts";
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
}

export interface DeliveryListing {
  /** Returns the organization's deliveries, newest first, without the subscribers' answers. Errors: invalid_request. */
  list(tenant: Tenant, filter: DeliveryFilter, page: PageRequest | undefined): Promise<Page<Delivery>>;
  /** Returns one delivery, answers included; undefined where the organization has none with this id. */
  find(tenant: Tenant, deliveryId: string): Promise<Delivery | undefined>;
}

/** The deliveries of one environment as users read them. */
export function createDeliveryListing(options: { db: Db }): DeliveryListing {
  const deliveries = options.db.collection<Delivery>("deliveries");
  return {
    async list(tenant, filter, page) {
      const found = await findPage(deliveries, queryOf(tenant, filter), page);
      return { ...found, items: found.items.map(withoutAnswers) };
    },

    async find(tenant, deliveryId) {
      return (await deliveries.findOne({ _id: deliveryId, organization_id: tenant.organizationId })) ?? undefined;
    },
  };
}

function queryOf(tenant: Tenant, filter: DeliveryFilter): Filter<Delivery> {
  const { monitorId, webhookUrl, status, from, to, testsOnly } = filter;
  return {
    organization_id: tenant.organizationId,
    ...(monitorId && { monitor_id: monitorId }),
    ...(webhookUrl && { endpoint_id: endpointId(tenant.organizationId, webhookUrl) }),
    ...(status && { status }),
    ...(testsOnly && { test: true }),
    ...((from || to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
}

function withoutAnswers<T extends Delivery>(delivery: T): T {
  return { ...delivery, attempts: delivery.attempts.map((attempt) => ({ ...attempt, answer_excerpt: "" })) };
}
