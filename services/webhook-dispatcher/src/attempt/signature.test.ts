import { expect, test } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { attemptHeaders } from "./request.ts";
import { signaturesOf } from "./signature.ts";

const current = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const previous = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
const body = JSON.stringify({ event: "monitor.change_detected", note: "Łódź & Straße" });
const stripe = new Stripe("sk_test_unused");

/** The headers of an attempt that is signed with these secrets. */
const sent = (secrets: readonly string[], sentAt: Date) => {
  const signatures = signaturesOf({ secrets, eventId: "evt_1", sentAt, body });
  return attemptHeaders({ event_id: "evt_1" }, { number: 1, sentAt, signatures });
};
const headers = () => sent([current, previous], new Date());

test.each([
  ["current", current],
  ["previous", previous],
])("during a rotation the public libraries verify with the %s secret", (_name, secret) => {
  const signed = headers();
  expect(new Webhook(secret).verify(body, signed)).toEqual(JSON.parse(body));
  expect(stripe.webhooks.constructEvent(body, signed["X-Service-Signature"]!, secret)).toEqual(JSON.parse(body));
});

test("a changed body, another secret and an old timestamp are refused by both", () => {
  const signed = headers();
  const old = sent([current], new Date(Date.now() - 3_600_000));
  const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  for (const [received, secret, text] of [
    [signed, current, `${body} `],
    [signed, other, body],
    [old, current, body],
  ] as const) {
    expect(() => new Webhook(secret).verify(text, received)).toThrow();
    expect(() => stripe.webhooks.constructEvent(text, received["X-Service-Signature"]!, secret)).toThrow();
  }
});

test("the two schemes share no key, so no signature of one passes in the other", () => {
  const signed = sent([current], new Date(0));
  expect(signed["X-Service-Signature"]).toBe("t=0,v1=".concat(signed["X-Service-Signature"]!.slice("t=0,v1=".length)));
  const hex = signed["X-Service-Signature"]!.split("v1=")[1]!;
  expect(Buffer.from(hex, "hex").toString("base64")).not.toBe(signed["webhook-signature"]!.split(",")[1]);
});
