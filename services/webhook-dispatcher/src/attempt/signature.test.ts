import { expect, test } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { signatureHeaders } from "./signature.ts";

const current = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const previous = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
const body = JSON.stringify({ event: "monitor.change_detected", note: "Łódź & Straße" });
const stripe = new Stripe("sk_test_unused");

const headers = () => signatureHeaders({ secrets: [current, previous], eventId: "evt_1", sentAt: new Date(), body });

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
  const old = signatureHeaders({
    secrets: [current],
    eventId: "evt_1",
    sentAt: new Date(Date.now() - 3_600_000),
    body,
  });
  const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  for (const [sent, secret, text] of [
    [signed, current, `${body} `],
    [signed, other, body],
    [old, current, body],
  ] as const) {
    expect(() => new Webhook(secret).verify(text, sent)).toThrow();
    expect(() => stripe.webhooks.constructEvent(text, sent["X-Service-Signature"]!, secret)).toThrow();
  }
});

test("the two schemes share no key, so no signature of one passes in the other", () => {
  const signed = signatureHeaders({ secrets: [current], eventId: "evt_1", sentAt: new Date(0), body });
  expect(signed["X-Service-Signature"]).toBe("t=0,v1=".concat(signed["X-Service-Signature"]!.slice("t=0,v1=".length)));
  const hex = signed["X-Service-Signature"]!.split("v1=")[1]!;
  expect(Buffer.from(hex, "hex").toString("base64")).not.toBe(signed["webhook-signature"]!.split(",")[1]);
});
