import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { DEVICE_TOKEN, EMAIL, PASSWORD } from "../testing/fake-sessions.ts";

const { dashboard } = dashboardPerTest({ signsIn: false });

test("a browser that signed in is a known device for a year, also after signing out", async () => {
  const visitor = dashboard.visitor();
  const { cookies } = await visitor.signIn();
  const device = cookies.find((cookie) => cookie.startsWith("__Host-device="));
  expect(device).toMatch(
    new RegExp(`^__Host-device=${DEVICE_TOKEN}; Path=/; Expires=[^;]+ GMT; HttpOnly; Secure; SameSite=Lax$`),
  );
  const expires = Date.parse(/Expires=([^;]+)/.exec(device!)![1]!);
  expect(expires - Date.now()).toBeGreaterThan(364 * 24 * 60 * 60_000);
  await visitor.post("/sign-out");
  dashboard.state.calls.length = 0;
  await visitor.signIn();
  await visitor.post("/forgot-password", { email: EMAIL });
  expect(dashboard.state.calls[0]).toContain(`"deviceToken":"${DEVICE_TOKEN}"`);
  expect(dashboard.state.calls.at(-1)).toContain(`"deviceToken":"${DEVICE_TOKEN}"`);
});

test("a browser that never signed in, or failed to, is not known", async () => {
  const visitor = dashboard.visitor();
  const { cookies } = await visitor.post("/sign-in", { email: EMAIL, password: "guess" });
  expect(cookies).toEqual([]);
  expect(dashboard.state.calls.join()).not.toContain("deviceToken");
});

test("a sign-in whose browser has gone is given up, so that its password is not hashed", async () => {
  const open = Promise.withResolvers<void>();
  dashboard.state.gate = open.promise;
  const browser = new AbortController();
  const body = new URLSearchParams({ email: EMAIL, password: PASSWORD });
  const headers = { "sec-fetch-site": "same-origin" };
  const sent = dashboard.visitor().request("/sign-in", { method: "POST", body, headers, signal: browser.signal });
  const hangUp = await dashboard.state.hangUp.promise;
  expect(hangUp.aborted).toBe(false);
  const gone = once(hangUp, "abort");
  browser.abort();
  await expect(sent).rejects.toThrow();
  await gone;
  open.resolve();
});
