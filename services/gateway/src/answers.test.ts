import { describe, expect, test } from "@jest/globals";
import { startTestGateway, until } from "./testing/gateway.ts";
import { entityId } from "./testing/samples.ts";

const gateway = await startTestGateway();

describe("headers of every answer", () => {
  test("forbid caching and sniffing, and do not name the server software", async () => {
    const { headers } = await gateway.get("/v1/nothing");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("etag")).toBeNull();
  });

  test.each(["a", "0f8fad5b-d9cb-469f-a165-70867728950e", "x".repeat(128), "with spaces ~!"])(
    "contain the client's request id %s",
    async (id) => {
      const { headers, body } = await gateway.send("GET", "/v1/nothing", { headers: { "X-Request-Id": id } });
      expect(headers.get("x-request-id")).toBe(id);
      expect(body.request_id).toBe(id);
    },
  );

  test.each(["x".repeat(129), "tab\tinside", "é", "12-3456789", "order 123456789", ""])(
    "contain a new request id instead of %j",
    async (id) => {
      const { headers, body } = await gateway.send("GET", "/v1/nothing", { headers: { "X-Request-Id": id } });
      expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
      expect(body.request_id).toBe(headers.get("x-request-id"));
    },
  );
});

describe("an unavailable service", () => {
  test("causes 503 with Retry-After, and health reports it until the service is back", async () => {
    const other = await startTestGateway();
    const { value } = other.account.createKey();
    const health = () => other.send("GET", "/v1/health");
    await until(async () => (await health()).status === 200);
    expect((await health()).body).toEqual({ status: "ok", version: "1.2.3" });
    await other.entity.close();
    const { status, headers, body } = await other.send("GET", `/v1/entities/${entityId}`, { key: value });
    expect([status, body.error]).toEqual([503, "service_unavailable"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await until(async () => (await health()).status === 503);
    expect((await health()).body).toEqual({ status: "unavailable", version: "1.2.3" });
  });
});
