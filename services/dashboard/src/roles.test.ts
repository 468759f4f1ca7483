import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startDashboard, type TestDashboard } from "./testing/dashboard.ts";
import { keyOf } from "./testing/fake-services.ts";

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterEach(() => {
  dashboard.state.role = "owner";
  dashboard.state.calls.length = 0;
});
afterAll(() => dashboard.close());

async function visitorOf(role: string) {
  const visitor = dashboard.visitor();
  await visitor.signIn();
  dashboard.state.role = role;
  dashboard.state.calls.length = 0;
  return visitor;
}

describe("who is read-only", () => {
  test.each([
    "/live/verifications",
    "/live/verifications/new",
    "/live/monitors",
    "/live/monitors/mon_1/cancel",
    "/live/api-keys",
    "/live/api-keys/key_1/roll",
    "/live/api-keys/key_1/revoke",
    "/live/webhooks/secret",
    "/live/webhooks/secret/show",
    "/live/webhooks/secret/rotate",
    "/live/webhooks/secret/end-previous",
    "/live/webhooks/deliveries/dlv_1/replay",
    "/live/webhooks/replay",
    "/live/webhooks/test",
  ])("is refused a form sent to %s, and no service hears of it", async (path) => {
    const visitor = await visitorOf("read_only");
    const { status, text } = path.endsWith("/new") ? await visitor.get(path) : await visitor.post(path);
    expect(status).toBe(403);
    expect(text).toContain("Your role does not allow this");
    expect(dashboard.state.calls).toEqual([]);
  });

  test.each([
    "/live/overview",
    "/live/verifications",
    "/live/monitors",
    "/live/api-keys",
    "/live/webhooks",
    "/live/webhooks/deliveries",
    "/live/providers",
  ])("sees %s", async (path) => {
    const visitor = await visitorOf("read_only");
    expect((await visitor.get(path)).status).toBe(200);
  });
});

test("a role that nobody knows may nothing", async () => {
  const visitor = await visitorOf("admin");
  expect((await visitor.get("/live/api-keys")).status).toBe(403);
});

test("a role that is taken away is gone at the next request", async () => {
  dashboard.state.keys = [keyOf()];
  const visitor = await visitorOf("developer");
  expect((await visitor.get("/live/api-keys/key_1/revoke")).status).toBe(200);
  dashboard.state.role = "read_only";
  expect((await visitor.post("/live/api-keys/key_1/revoke")).status).toBe(403);
  expect(dashboard.state.calls).toEqual([]);
});
