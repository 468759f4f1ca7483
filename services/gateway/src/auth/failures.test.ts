import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { generateApiKey } from "@vvs/api-keys";
import { startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { entity, entityId } from "../testing/samples.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway(process.env.REDIS_URL);
  gateway.entity.on("getEntity", () => ({ entity }));
});
afterAll(() => gateway.close());

const path = `/v1/entities/${entityId}`;
const from = (address: string, authorization?: string) =>
  gateway.send("GET", path, {
    headers: { "X-Forwarded-For": address, ...(authorization === undefined ? {} : { Authorization: authorization }) },
  });

test("every failed authentication gets the same answer, for any cause", async () => {
  const revoked = gateway.account.createKey();
  gateway.account.revoke(revoked.record);
  const expired = gateway.account.createKey({ expiresAt: new Date(0) });
  const unknown = generateApiKey("live");
  const bodies = new Set<string>();
  for (const authorization of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    `Basic ${revoked.value}`,
    "Bearer secret",
    `Bearer ${unknown}`,
    `Bearer ${unknown} more`,
    `Bearer ${revoked.value}`,
    `Bearer ${expired.value}`,
    `Bearer ${revoked.value.slice(0, -1)}`,
  ]) {
    const { status, headers, body } = await from("198.51.100.1", authorization);
    expect([authorization, status, headers.get("www-authenticate")]).toEqual([authorization, 401, "Bearer"]);
    expect(headers.get("ratelimit")).toBeNull();
    bodies.add(JSON.stringify({ ...body, request_id: "" }));
  }
  expect(bodies.size).toBe(1);
});

test("after 60 failures a minute from one address, further failures get 429; valid keys and other addresses do not", async () => {
  const { value } = gateway.account.createKey();
  for (let attempt = 0; attempt < 60; attempt++) expect((await from("198.51.100.2", "Bearer x")).status).toBe(401);
  const { status, headers, body } = await from("198.51.100.2", "Bearer x");
  expect([status, body.error]).toEqual([429, "rate_limited"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
  expect((await from("198.51.100.2", `Bearer ${value}`)).status).toBe(200);
  expect((await from("198.51.100.2", `bearer  ${value}`)).status).toBe(200);
  expect((await from("198.51.100.3", "Bearer x")).status).toBe(401);
});

test("health requires no key and is never limited", async () => {
  expect((await gateway.send("GET", "/v1/health", { headers: { Authorization: "Bearer x" } })).status).not.toBe(401);
});
