import { expect, test } from "@jest/globals";
import { firstCall } from "./first-call.ts";

const all = ["entities:read", "verifications:read", "verifications:write", "monitors:read"];

test.each([
  ["sandbox", all, "/v1/verify"],
  ["sandbox", ["entities:read"], "/v1/entities/lookup"],
  ["live", all, "/v1/entities"],
  ["live", ["verifications:read"], "/v1/providers"],
  ["live", ["monitors:read"], "/v1/monitors"],
  ["live", ["monitors:write"], "/v1/health"],
] as const)("the first call of a %s key with %j is %s", (environment, scopes, path) => {
  const call = firstCall({ baseUrl: new URL("https://api.example"), key: "svc_x", environment, scopes });
  expect(call.split(" \\\n")[0]).toBe(`curl https://api.example${path}`);
  expect(call).toContain('-H "Authorization: Bearer svc_x"');
});

test("a live key's first call creates nothing", () => {
  const call = firstCall({ baseUrl: new URL("https://api.example"), key: "svc_x", environment: "live", scopes: all });
  expect(call).not.toContain("-d");
});

test("a base URL keeps its path", () => {
  const baseUrl = new URL("https://example.com/api/");
  expect(firstCall({ baseUrl, key: "k", environment: "live", scopes: all })).toMatch(
    /^curl https:\/\/example\.com\/api\/v1\/entities/,
  );
});
