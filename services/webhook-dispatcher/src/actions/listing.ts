import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { findPage, type Page } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import type { Db, Filter } from "mongodb";
import { endpointId } from "../endpoints/endpoint.ts";
import { type Delivery, deliveryId } from "../model/delivery.ts";

/** `failing`: those that failed, and pending ones whose last attempt failed. */
export type DeliveryStatus = Delivery["status"] | "failing";

/** Selects deliveries; an absent field selects all. */
export interface DeliveryFilter {
  readonly monitorId?: string;
  readonly webhookUrl?: string;
  readonly status?: DeliveryStatus;
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
      const queries = statusQueries(filter.status).map((status) => ({ ...queryOf(tenant, filter), ...status }));
      const pages = await Promise.all(queries.map((query) => findPage(deliveries, query, page)));
      const { items, next } = mergePages(pages, page?.limit ?? 0);
      return { next, items: items.map(withoutAnswers) };
    },

    /** Returns one delivery, answers included; undefined if the organization has none with this id. */
    async find(tenant: Tenant, deliveryId: string): Promise<Delivery | undefined> {
      return (await deliveries.findOne({ _id: deliveryId, organization_id: tenant.organizationId })) ?? undefined;
    },
  };
}

function queryOf(tenant: Tenant, filter: DeliveryFilter): Filter<Delivery> {
  const { monitorId, webhookUrl, from, to, testsOnly, eventId } = filter;
  return {
    organization_id: tenant.organizationId,
    ...(monitorId && { monitor_id: monitorId }),
    ...(webhookUrl && { endpoint_id: endpointId(tenant.organizationId, webhookUrl) }),
    ...(testsOnly && { test: true }),
    // Only the few test events have ids that do not follow from those of their events.
    ...(eventId && { $or: [{ _id: deliveryId(eventId) }, { test: true, event_id: eventId }] }),
    ...((from || to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
}

const LAST_ATTEMPT_FAILED = {
  $expr: { $gt: [{ $getField: { field: "error", input: { $last: "$attempts" } } }, null] },
};

/** Returns the queries of a status. Each has an index of its own, and reads little more than a page. */
function statusQueries(status: DeliveryStatus | undefined): Filter<Delivery>[] {
  if (!status) return [{}];
  return status === "failing" ? [{ status: "failed" }, { status: "pending", ...LAST_ATTEMPT_FAILED }] : [{ status }];
}

/** Merges pages that begin at the same place into one. */
function mergePages(pages: readonly Page<Delivery>[], limit: number): Page<Delivery> {
  const [only] = pages;
  if (pages.length === 1) return only!;
  const newestFirst = pages
    .flatMap(({ items }) => items)
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? 1 : -1));
  const items = newestFirst.slice(0, limit);
  const last = items.at(-1);
  const hasMore = newestFirst.length > limit || pages.some(({ next }) => next !== undefined);
  return { items, next: hasMore && last ? { createdAt: timestampFromDate(last.created_at), id: last._id } : undefined };
}

function withoutAnswers(delivery: Delivery): Delivery {
  return {
    ...delivery,
    attempts: delivery.attempts.map((attempt) => ({ ...attempt, answer_excerpt: "", signatures: undefined })),
  };
}
