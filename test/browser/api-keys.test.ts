import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createApi } from "../support/api.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { waitFor } from "../support/wait-for.ts";
import { countOf, launchBrowser, newProfile } from "./browser.ts";
import { collectComplaints, createKey, signIn } from "./dashboard-page.ts";

const { baseUrl, dashboardUrl } = sharedProduct();
let browser: Browser;
let organization: TestOrganization;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [browser, organization] = await Promise.all([launchBrowser(), createOrganization()]);
  context = await newProfile(browser, { baseURL: dashboardUrl, permissions: ["clipboard-read", "clipboard-write"] });
  complaints = collectComplaints(context);
  page = await context.newPage();
  await signIn(page, organization);
});

afterAll(() => browser.close());

test("a key is created, shown once, and never again: not on its page reloaded, not in the list, not by going back", async () => {
  await page.goto("/test/api-keys");
  const value = await createKey(page, "Shown once");
  expect(value).toMatch(/^svc_test_[0-9A-Za-z]{38}$/);
  const keys = () => page.getByRole("rowheader", { name: "Shown once" }).count();
  const showsValue = async () => (await page.content()).includes(value);

  await page.reload();
  await page.getByText("This form was sent before, so nothing was created now.").waitFor();
  expect(await showsValue()).toBe(false);
  expect(await keys()).toBe(1);
  await page.goto("/test/api-keys");
  expect(await showsValue()).toBe(false);
  await page.goBack();
  expect(await showsValue()).toBe(false);
  await page.goto("/test/api-keys");
  expect(await keys()).toBe(1);
  expect(await countOf(page.getByText(`${value.slice(0, 13)}…${value.slice(-4)}`))).toBe(1);
});

test.each([
  ["test", "svc_test_"],
  ["live", "svc_live_"],
])("the call that the page of a new %s key offers works as it is, from the clipboard", async (path, prefix) => {
  await page.goto(`/${path}/api-keys`);
  const value = await createKey(page, "First call");
  expect(value.startsWith(prefix)).toBe(true);
  await page.getByRole("button", { name: "Copy" }).nth(1).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const command = await page.evaluate<string>("navigator.clipboard.readText()");
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `${command} --silent --write-out '\n%{http_code}'`]);
  expect(stdout.split("\n").at(-1)).toBe("200");
  expect(command).toContain(value);
});

test("a key with fewer scopes can do just that", async () => {
  await page.goto("/test/api-keys");
  await page.getByText("Scopes: what the key may do").click();
  for (const scope of [
    "entities:write",
    "verifications:read",
    "verifications:write",
    "monitors:read",
    "monitors:write",
  ]) {
    await page.getByLabel(scope).uncheck();
  }
  const api = createApi(baseUrl, await createKey(page, "Reader"));
  expect((await api.get("/v1/entities")).status).toBe(200);
  expect((await api.get("/v1/monitors")).status).toBe(403);
});

test("a revoked key is refused within 5 s, and shown as revoked", async () => {
  await page.goto("/live/api-keys");
  const api = createApi(baseUrl, await createKey(page, "To be revoked"));
  await waitFor("the key to work", async () => (await api.get("/v1/entities")).status === 200);
  await page.goto("/live/api-keys");
  await page.getByRole("link", { name: "Revoke To be revoked" }).click();
  await page.getByRole("heading", { name: "Revoke To be revoked?" }).waitFor();
  expect((await api.get("/v1/entities")).status).toBe(200);
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("The key is revoked.").waitFor();
  const row = page.getByRole("row", { name: "To be revoked" });
  expect(await countOf(row.getByText("revoked", { exact: true }))).toBe(1);
  await waitFor("the key to be refused", async () => (await api.get("/v1/entities")).status === 401, {
    timeoutMs: 5_000,
  });
});

test("the environments are told apart on every page, and neither shows the other's keys", async () => {
  await page.goto("/test/api-keys");
  await createKey(page, "Test alone");
  const environments = page.getByRole("navigation", { name: "Environment" });
  await environments.getByRole("link", { name: "Live" }).click();
  await page.getByText("Live environment").waitFor();
  expect(new URL(page.url()).pathname).toBe("/live/api-keys");
  expect(await countOf(page.getByText("Test alone"))).toBe(0);
  expect(await page.title()).toContain("Live");
  await page.getByRole("link", { name: "Webhooks" }).click();
  await environments.getByRole("link", { name: "Test" }).click();
  await page.getByText("Test environment").waitFor();
  expect(new URL(page.url()).pathname).toBe("/test/webhooks");
});

test("the browser had nothing to complain of", () => {
  expect(complaints).toEqual([]);
});
