import { newId } from "@vvs/ids";
import type { WebhookRequested } from "@vvs/proto/events/v1/events";
import { webhookEvent } from "../../support/delivery-stack.ts";

/** Number of endpoints, each with its own address. */
export const ENDPOINTS = 200;
/** Number of organizations that share the endpoints. */
export const ORGANIZATIONS = 50;

const organizations = Array.from({ length: ORGANIZATIONS }, () => newId("org"));

/** Returns the organization that owns the endpoint with this index. */
export function ownerOf(endpoint: number): string {
  return organizations[endpoint % ORGANIZATIONS]!;
}

/** Returns `count` events, each for a different monitor, to the endpoints in rotation. */
export function flood(count: number, url: (endpoint: number) => string): WebhookRequested[] {
  return Array.from({ length: count }, (_, index) =>
    webhookEvent({ organizationId: ownerOf(index % ENDPOINTS), monitorId: newId("mon"), url: url(index % ENDPOINTS) }),
  );
}
