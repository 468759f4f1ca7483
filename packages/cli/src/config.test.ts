import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { loadSettings, settingsFile, storeSettings } from "./config.ts";
import { UsageError } from "./exit-codes.ts";
import { LIVE_KEY, TEST_KEY } from "./testing/fake-api.ts";

const home = mkdtempSync(join(tmpdir(), "vvs-cli-"));
const env = { HOME: home };
const settings = { baseUrl: "https://api.example", apiKey: TEST_KEY };
afterAll(() => rmSync(home, { recursive: true }));

test("only the user can read what is stored, also if an earlier file was open to others", () => {
  storeSettings(env, settings);
  chmodSync(settingsFile(env), 0o644);
  const file = storeSettings(env, { ...settings, apiKey: LIVE_KEY });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(file))).toEqual(["config.json"]);
  expect(loadSettings(env)).toEqual({ ...settings, apiKey: LIVE_KEY });
});

test("variables override what is stored, each by itself", () => {
  storeSettings(env, settings);
  expect(loadSettings({ ...env, VENDOR_VERIFICATION_API_KEY: `${LIVE_KEY}\n` })).toEqual({
    ...settings,
    apiKey: LIVE_KEY,
  });
  expect(loadSettings({ ...env, VENDOR_VERIFICATION_BASE_URL: "http://localhost:8080/" }).baseUrl).toBe(
    "http://localhost:8080",
  );
});

test.each([
  ["VENDOR_VERIFICATION_BASE_URL", "127.0.0.1:8080", "is not the address of a service"],
  ["VENDOR_VERIFICATION_BASE_URL", "localhost:8080", "is not the address of a service"],
  ["VENDOR_VERIFICATION_BASE_URL", "https://api.example/v1", "does not end with /v1"],
  ["VENDOR_VERIFICATION_API_KEY", "svc_test_...", "not an API key"],
])("%s=%s is a usage error", (name, value, message) => {
  storeSettings(env, settings);
  const load = () => loadSettings({ ...env, [name]: value });
  expect(load).toThrow(UsageError);
  expect(load).toThrow(message);
});

test.each([
  [{ HOME: "/h" }, "linux", "/h/.config/vendor-verification/config.json"],
  [{ HOME: "/h", XDG_CONFIG_HOME: "/x" }, "linux", "/x/vendor-verification/config.json"],
  [{ USERPROFILE: "/u", APPDATA: "/u/roaming" }, "win32", "/u/roaming/vendor-verification/config.json"],
])("with %j on %s the file is %s", (variables, platform, file) => {
  expect(settingsFile(variables, platform)).toBe(file);
});

test("if there are no settings, or the file can't be read, the message says what to do", () => {
  expect(() => loadSettings({ HOME: join(home, "nobody") })).toThrow("vendor-verification login");
  writeFileSync(settingsFile(env), "{");
  expect(() => loadSettings(env)).toThrow(UsageError);
});
