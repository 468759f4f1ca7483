import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { withAccounts } from "../../deploy/local/seed.ts";
import { type Api, createApi } from "../support/api.ts";
import { sharedProduct } from "../support/product.ts";
import { countOf } from "./browser.ts";
import { createKey } from "./dashboard-page.ts";
import { signedInUser } from "./signed-in-user.ts";

const { baseUrl, environment } = sharedProduct();
const { organization, page } = await signedInUser({ permissions: ["clipboard-read", "clipboard-write"] });

test("a new key is shown once and never again: not after a reload, not in the list, not by going back", async () => {
  await page.goto("/test/api-keys");
  const value = await createKey(page, "Shown once");
  expect(value).toMatch(/^svc_test_[0-9A-Za-z]{38}$/);
  const keys = () => page.getByRole("rowheader", { name: "Shown once" }).count();
  const showsValue = async () => (await page.content()).includes(value);

  await page.reload();
  await page.getByText("This form was already sent, so no other key was created.").waitFor();
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
])("the command copied from the page of a new %s key works unchanged", async (path, prefix) => {
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

test("a revoked key is refused within 5 s and shown as revoked", async () => {
  await page.goto("/live/api-keys");
  const api = createApi(baseUrl, await createKey(page, "To be revoked"));
  await eventually(async () => (await api.get("/v1/entities")).status === 200);
  await page.goto("/live/api-keys");
  await page.getByRole("link", { name: "Revoke To be revoked" }).click();
  await page.getByRole("heading", { name: "Revoke the key “To be revoked”?" }).waitFor();
  expect((await api.get("/v1/entities")).status).toBe(200);
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("The API key was revoked.").waitFor();
  const row = page.getByRole("row", { name: "To be revoked" });
  expect(await countOf(row.getByText("revoked", { exact: true }))).toBe(1);
  await eventually(async () => (await api.get("/v1/entities")).status === 401, {
    timeoutMs: 5_000,
  });
});

test("after a roll both keys work until the old one expires, and the new one works until it is revoked", async () => {
  const works = async (api: Api) => (await api.get("/v1/entities")).status === 200;
  const isRefused = async (api: Api) => (await api.get("/v1/entities")).status === 401;
  await page.goto("/test/api-keys");
  await page.getByLabel("The new key expires").selectOption("In 90 days");
  const first = createApi(baseUrl, await createKey(page, "Rolled"));
  await eventually(() => works(first));
  await page.goto("/test/api-keys");
  const rows = page.getByRole("row", { name: "Rolled" });
  expect(await rows.getByText(`by ${organization.email}`).count()).toBe(1);
  const isUsed = async () => {
    await page.reload();
    return (await rows.locator("td[data-label='Last used'] time").count()) === 1;
  };
  await eventually(isUsed, { everyMs: 500 });

  await page.getByRole("link", { name: "Roll Rolled" }).click();
  await page.getByLabel("Works for 1 more hour").check();
  expect(await page.getByLabel("The new key expires").inputValue()).toBe("90");
  await page.getByRole("button", { name: "Roll key" }).click();
  await page.getByText("works until").waitFor();
  const second = createApi(baseUrl, (await page.locator("#key-value").textContent())!);
  await eventually(() => works(second));
  expect(await works(first)).toBe(true);
  await page.goto("/test/api-keys");
  expect(await rows.count()).toBe(2);
  expect(await rows.getByText("rolled", { exact: true }).count()).toBe(1);

  // Ends the hour in the database, from which all gateways learn it.
  await withAccounts(environment, async ({ store }) => {
    const rolled = { organization_id: organization.id, name: "Rolled", rolled_at: { $exists: true } };
    await store.apiKeys.updateOne(rolled, { $set: { expires_at: new Date() } });
  });
  await eventually(() => isRefused(first), { timeoutMs: 5_000 });
  expect(await works(second)).toBe(true);
  await page.reload();
  expect(await rows.getByText("expired", { exact: true }).count()).toBe(1);

  await rows.first().getByRole("link", { name: "Revoke Rolled" }).click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("The API key was revoked.").waitFor();
  await eventually(() => isRefused(second), { timeoutMs: 5_000 });
});

test("a double click on the button creates only one key", async () => {
  await page.goto("/test/api-keys");
  await page.getByLabel("Name").fill("Clicked twice");
  await page.getByRole("button", { name: "Create key" }).dblclick();
  await page.getByRole("heading", { name: "Your API key is ready" }).waitFor();
  await page.goto("/test/api-keys");
  expect(await page.getByRole("rowheader", { name: "Clicked twice" }).count()).toBe(1);
});
