import { describe, expect, test } from "@jest/globals";
import { signWebhook, verifyWebhook, WebhookVerificationError } from "./index.ts";

const secretOf = (byte: number, length = 32) =>
  `whsec_${btoa(String.fromCharCode(...new Uint8Array(length).fill(byte)))}`;
const [current, previous, strange] = [secretOf(7), secretOf(9, 24), secretOf(1)];
const payload = { event: "monitor.change_detected", note: "Łódź & Straße" };
const body = JSON.stringify(payload);
const sentAt = new Date("2026-11-21T09:30:00.000Z");
const now = () => sentAt;
const id = "evt_1";
const signed = await signWebhook(body, { id, secrets: [current, previous], sentAt });
const { "X-Service-Signature": service, ...standard } = signed;

async function reasonFor(verification: Promise<unknown>): Promise<string> {
  const error = await verification.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WebhookVerificationError);
  return (error as WebhookVerificationError).reason;
}

describe.each([
  ["Standard Webhooks", standard, id],
  ["X-Service-Signature", { "X-Service-Signature": service! }, undefined],
])("%s", (_name, headers: Record<string, string>, protectedId) => {
  test.each([
    ["the current secret", current],
    ["the previous secret", previous],
    ["several secrets", [strange, previous]],
  ])("accepts %s", async (_case, secrets) => {
    expect(await verifyWebhook(body, headers, secrets, { now })).toEqual({ id: protectedId, payload });
  });

  test("takes bytes, and headers in the forms of Node and of fetch", async () => {
    const bytes = new TextEncoder().encode(body);
    const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
    for (const form of [headers, lowerCase, new Headers(headers)]) {
      expect((await verifyWebhook(Buffer.from(bytes), form, current, { now })).payload).toEqual(payload);
    }
  });

  test.each([
    ["another secret", body, strange, 0, "signature"],
    ["a changed body", body.replace("Łódź", "Lodz"), current, 0, "signature"],
    ["an old request", body, current, 301, "timestamp"],
    ["a request from the future", body, current, -301, "timestamp"],
  ])("refuses %s", async (_case, text, secret, ageSeconds, reason) => {
    const later = () => new Date(sentAt.getTime() + ageSeconds * 1_000);
    expect(await reasonFor(verifyWebhook(text, headers, secret, { now: later }))).toBe(reason);
  });

  test("accepts up to the tolerance", async () => {
    const later = () => new Date(sentAt.getTime() + 60_000);
    expect(await verifyWebhook(body, headers, current, { now: later, toleranceSeconds: 60 })).toBeDefined();
    expect(await reasonFor(verifyWebhook(body, headers, current, { now: later, toleranceSeconds: 59 }))).toBe(
      "timestamp",
    );
  });
});

test.each<[string, Record<string, string>]>([
  ["no signature", {}],
  ["no id", { ...standard, "webhook-id": "" }],
  ["no timestamp", { "webhook-id": id, "webhook-signature": standard["webhook-signature"]! }],
  ["a timestamp that is no number", { "X-Service-Signature": service!.replace(/^t=\d+/, "t=now") }],
])("refuses %s", async (_case, headers) => {
  expect(await reasonFor(verifyWebhook(body, headers, current, { now }))).toBe("headers");
});

test.each([
  ["empty", ""],
  ["no base64", "v1,***"],
  ["of another version", standard["webhook-signature"]!.replaceAll("v1,", "v2,")],
  ["that of the other scheme", `v1,${Buffer.from(/v1=(\w+)/.exec(service!)![1]!, "hex").toString("base64")}`],
])("refuses a signature that is %s, even if the other header's is valid", async (_case, signature) => {
  const headers = { ...signed, "webhook-signature": signature };
  expect(await reasonFor(verifyWebhook(body, headers, current, { now }))).toBe("signature");
});

test("an id that was changed is refused, because it would defeat handling an event once", async () => {
  expect(await reasonFor(verifyWebhook(body, { ...signed, "webhook-id": "evt_2" }, current, { now }))).toBe(
    "signature",
  );
});

test("a signed body that is not JSON is refused", async () => {
  const headers = await signWebhook("{", { id, secrets: current, sentAt });
  expect(await reasonFor(verifyWebhook("{", headers, current, { now }))).toBe("body");
});

test("faults of the caller are TypeErrors: parsed JSON, no secret, an unusable secret", async () => {
  await expect(verifyWebhook(payload as never, signed, current, { now })).rejects.toThrow(TypeError);
  await expect(verifyWebhook(body, signed, [], { now })).rejects.toThrow(TypeError);
  for (const secret of ["", "whsec_", "whsec_***", "secret"]) {
    await expect(verifyWebhook(body, signed, secret, { now })).rejects.toThrow(TypeError);
  }
});
