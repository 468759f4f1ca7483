import { expect, test } from "@jest/globals";
import { generateApiKey } from "@vvs/api-keys";
import { startTestGateway } from "../testing/gateway.ts";
import { entity, entityId } from "../testing/samples.ts";

const gateway = await startTestGateway();
gateway.entity.on("getEntity", () => ({ entity }));

const path = `/v1/entities/${entityId}`;
const from = (address: string, authorization?: string) =>
  gateway.send("GET", path, {
    headers: { "X-Forwarded-For": address, ...(authorization === undefined ? {} : { Authorization: authorization }) },
  });

test("a well-formed key that is not valid gets the same answer for any cause; other mistakes have their own", async () => {
  const revoked = gateway.account.createKey();
  gateway.account.revoke(revoked.record);
  const expired = gateway.account.createKey({ expiresAt: new Date(0) });
  const unknown = generateApiKey("live");
  const truncated = revoked.value.slice(0, -1);
  for (const [message, authorizations] of [
    [/has no Authorization header/, [undefined, ""]],
    [/has another form/, ["Bearer", "Bearer ", `Basic ${revoked.value}`, unknown, `Bearer ${unknown} more`]],
    [/is malformed/, ["secret", "svc_test_...", `"${unknown}"`, truncated].map((key) => `Bearer ${key}`)],
    [/is unknown, revoked or expired/, [unknown, revoked.value, expired.value].map((key) => `Bearer ${key}`)],
  ] as const) {
    for (const authorization of authorizations) {
      const { status, headers, body } = await from("198.51.100.1", authorization);
      expect([authorization, status, headers.get("www-authenticate")]).toEqual([authorization, 401, "Bearer"]);
      expect(headers.get("ratelimit")).toBeNull();
      expect(body).toEqual({
        error: "unauthorized",
        message: expect.stringMatching(message),
        request_id: expect.any(String),
        doc_url: expect.stringMatching(/#error-\w+$/),
      });
    }
  }
});

test("after 60 failures a minute from one address, further failures get 429; valid keys, also new ones, and other addresses do not", async () => {
  const { value } = gateway.account.createKey();
  for (let attempt = 0; attempt < 60; attempt++) expect((await from("198.51.100.2", "Bearer x")).status).toBe(401);
  const { status, headers, body } = await from("198.51.100.2", "Bearer x");
  expect([status, body.error]).toEqual([429, "rate_limited"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
  expect((await from("198.51.100.2", `Bearer ${value}`)).status).toBe(200);
  expect((await from("198.51.100.2", `bearer  ${value}`)).status).toBe(200);
  expect((await from("198.51.100.3", "Bearer x")).status).toBe(401);
  const reads = gateway.account.reads();
  const created = gateway.account.createKey({ unwatched: true });
  expect((await from("198.51.100.2", `Bearer ${created.value}`)).status).toBe(200);
  for (let attempt = 0; attempt < 10; attempt++) {
    expect((await from("198.51.100.2", `Bearer ${generateApiKey("live")}`)).status).toBe(429);
  }
  expect(gateway.account.reads()).toBe(reads + 5);
});

test("health requires no key and is never limited", async () => {
  expect((await gateway.send("GET", "/v1/health", { headers: { Authorization: "Bearer x" } })).status).not.toBe(401);
});
