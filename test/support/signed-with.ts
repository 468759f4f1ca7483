import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import type { Received } from "./subscriber.ts";

/** Returns whether the public libraries accept a POST as signed with this secret, in both schemes. */
export function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const standard = Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, String(headers[name])]),
  );
  try {
    new Webhook(secret).verify(body, standard);
    new Stripe("sk_test_unused").webhooks.constructEvent(body, String(headers["x-service-signature"]), secret);
    return true;
  } catch {
    return false;
  }
}
