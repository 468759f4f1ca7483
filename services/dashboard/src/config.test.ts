import { afterEach, expect, test } from "@jest/globals";
import { loadDashboardConfig } from "./config.ts";

afterEach(() => {
  delete process.env.DASHBOARD_URL;
});

test("the defaults serve only this machine", () => {
  const config = loadDashboardConfig();
  expect(config).toMatchObject({ HTTP_HOST: "127.0.0.1", HTTP_PORT: 8081, TRUSTED_PROXY_HOPS: 0 });
  expect(config.DASHBOARD_URL.origin).toBe("http://localhost:8081");
});

test.each(["https://dashboard.example", "https://dashboard.example/", "http://localhost:9", "http://127.0.0.1:9"])(
  "%s is taken as its address",
  (url) => {
    process.env.DASHBOARD_URL = url;
    expect(loadDashboardConfig().DASHBOARD_URL.origin).toBe(new URL(url).origin);
  },
);

test.each(["http://dashboard.example", "https://dashboard.example/path", "ftp://localhost", "dashboard"])(
  "%s is refused: browsers would not keep the session there",
  (url) => {
    process.env.DASHBOARD_URL = url;
    expect(loadDashboardConfig).toThrow(/DASHBOARD_URL: must/);
  },
);
