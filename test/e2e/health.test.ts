import { expect, test } from "@jest/globals";
import { createApi } from "../support/api.ts";
import { sharedProduct } from "../support/product.ts";

test("health needs no key, is not rate limited and reveals nothing secret", async () => {
  const answers = await Promise.all(
    Array.from({ length: 150 }, () => createApi(sharedProduct().baseUrl).get("/v1/health")),
  );
  for (const { status, body, headers } of answers) {
    expect(status).toBe(200);
    expect(body).toEqual({ status: "ok", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect(headers.get("x-request-id")).toEqual(expect.any(String));
    expect(headers.has("ratelimit")).toBe(false);
  }
});
