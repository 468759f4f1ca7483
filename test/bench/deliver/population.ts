import { newId } from "@vvs/ids";
import type { WebhookRequested } from "@vvs/proto/events/v1/events";
import { webhookEvent } from "../../support/delivery-stack.ts";

/** Each at an address of its own. */
export const ENDPOINTS = 200;
/** Endpoints are shared out among them. */
export const ORGANIZATIONS = 50;

const organizations = Array.from({ length: ORGANIZATIONS }, () => newId("org"));

/** Who owns the endpoint of that number. */
export function ownerOf(endpoint: number): string {
  return organizations[endpoint % ORGANIZATIONS]!;
}

/** So many events, each of a monitor of its own and to one endpoint after the other. */
export function flood(count: number, url: (endpoint: number) => string): WebhookRequested[] {
  return Array.from({ length: count }, (_, index) =>
    webhookEvent({ organizationId: ownerOf(index % ENDPOINTS), monitorId: newId("mon"), url: url(index % ENDPOINTS) }),
  );
}
