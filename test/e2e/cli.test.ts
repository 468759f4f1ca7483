import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { verifyWebhook } from "@vendor-verification/client";
import { temporaryFolder } from "@vvs/testing";
import { parse } from "csv-parse/sync";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { startCli } from "../support/program.ts";
import { startSubscriber } from "../support/subscriber.ts";

const home = temporaryFolder();
const path = (name: string) => join(home, name);
const running = (...args: string[]) => startCli(args, { env: { HOME: home }, cwd: home });
const run = (...args: string[]) => running(...args).ended;

const organization = await createOrganization();
const login = startCli(["login", "--base-url", sharedProduct().baseUrl], {
  env: { HOME: home },
  stdin: `${organization.keys.sandbox}\n`,
});
expect(await login.ended).toMatchObject({ code: 0, stderr: "" });

const resultRows = (name: string): Record<string, string>[] => parse(readFileSync(path(name)), { columns: true });

async function registeredName(uei: string): Promise<string> {
  return (await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei } })).body.legal_name;
}

test("login stores a key that works, readable only by the user, and refuses one that does not", async () => {
  const file = path(".config/vendor-verification/config.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const unknown = `${organization.keys.sandbox.slice(0, -1)}${organization.keys.sandbox.endsWith("A") ? "B" : "A"}`;
  const refused = startCli(["login", "--base-url", sharedProduct().baseUrl], { env: { HOME: home }, stdin: unknown });
  expect(await refused.ended).toMatchObject({ code: 3, stdout: "" });
  expect(JSON.parse(readFileSync(file, "utf8")).apiKey).toBe(organization.keys.sandbox);
});

test("a CSV file is verified as a job, and comes back with its own columns", async () => {
  const vendors = [
    "vendor no,UEI,TIN,Legal Name",
    `=1+1,SANDBXACTVE1,123456780,${await registeredName("SANDBXACTVE1")}`,
    "2,SANDBXEXPRD1,,",
    "3,bad,,",
    "4,SANDBXACTVE1,123456780,Totally Different Inc",
  ];
  writeFileSync(path("vendors.csv"), vendors.join("\n"));
  const checks = "sam_registration,tin_match";
  const { code, stdout, stderr } = await run("verify", "vendors.csv", "--out", "results.csv", "--checks", checks);
  expect([code, stdout]).toEqual([1, "4 rows: 1 pay, 1 hold, 2 review. Results: results.csv\n"]);
  expect(stderr).toMatch(/^Row 4, "UEI" must be 12 letters and digits\.\n[\s\S]+job_\w+: 3 vendors\.\n$/);
  const rows = resultRows("results.csv");
  expect(rows.map((row) => [row["vendor no"], row.TIN, row.outcome, row.decision, row.asked_tin])).toEqual([
    ["'=1+1", "****6780", "pass", "pay", "****6780"],
    ["2", "", "fail", "hold", ""],
    ["3", "", "invalid", "review", ""],
    ["4", "****6780", "pass", "review", "****6780"],
  ]);
  expect(rows.map(({ reasons }) => reasons)).toEqual([
    "",
    "expired; missing_tin",
    'Row 4, "UEI" must be 12 letters and digits',
    "other_name",
  ]);
  expect(rows[0]).toMatchObject({
    registry_name: await registeredName("SANDBXACTVE1"),
    expires_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    evidence: expect.stringMatching(/^http\S+\/evd_\w+; http\S+\/evd_\w+$/),
  });
});

test("a triggered change reaches a server on this machine, signed with the printed secret", async () => {
  const subscriber = await startSubscriber();
  const listening = running("listen", "--forward-to", subscriber.url);
  const following = running("events", "--follow", "--after", "start", "--json");
  try {
    const [, secret] = await listening.printed(/Signing secret: (\S+)/);
    const triggered = await run("trigger", "--json");
    expect(triggered).toMatchObject({ code: 0, stderr: "" });
    const event = JSON.parse(triggered.stdout);
    const { body, headers } = await subscriber.waitForPost((post) => post.headers["webhook-id"] === event.id);
    const { id, payload } = await verifyWebhook(body, headers, secret!);
    expect([id, payload]).toMatchObject([
      event.id,
      { event: "monitor.change_detected", monitor_id: event.monitor_id, verification_id: event.verification_id },
    ]);
    await listening.printed(new RegExp(`${event.id} +200 `));
    await following.printed(new RegExp(event.id));
    const { stdout } = await run("monitors", "list", "--json");
    expect(stdout).toBe("");
    expect((await run("monitors", "events", event.monitor_id)).stdout).toContain(event.id);
  } finally {
    for (const program of [listening, following]) program.interrupt();
    subscriber.close();
  }
  expect([(await listening.ended).code, (await following.ended).code]).toEqual([0, 0]);
});

test("an entity is created, shown and listed; evidence and providers are shown", async () => {
  const identifiers = ["--cage", "7QX42", "--external-id", "V-1001"];
  const address = ["--line1", "1 Main St", "--city", "Reston", "--state", "VA", "--zip", "20190"];
  const created = await run("entities", "create", "--name", "Shown Tools", ...identifiers, ...address);
  expect([created.code, created.stderr]).toEqual([0, ""]);
  const [, id] = /^Entity +(ent_\w+)\nYour number +V-1001\nName +Shown Tools\n/.exec(created.stdout)!;
  expect((await run("entities", "get", id!)).stdout).toBe(created.stdout);
  expect((await run("entities", "list", "--external-id", "V-1001")).stdout).toMatch(
    new RegExp(`\n${id} +V-1001 .+Shown Tools`),
  );
  const verified = JSON.parse((await run("verify", "--uei", "SANDBXACTVE1", "--json")).stdout);
  const evidence = await run("evidence", verified.results[0].evidence_uri);
  expect(evidence.stdout).toMatch(/^Evidence +evd_[\s\S]+Asked +\S+ {2}sandbox_primary {2}pass/);
  expect((await run("providers")).stdout).toMatch(/^Provider +State[\s\S]+\nsandbox_primary +available/);
});

test("a monitor is created, listed, changed and canceled", async () => {
  const { id } = JSON.parse((await run("lookup", "--uei", "SANDBXACTVE1", "--json")).stdout);
  const created = JSON.parse((await run("monitors", "create", id, "--frequency", "weekly", "--json")).stdout);
  expect(created).toMatchObject({ entity_id: id, checks: ["sam_registration"], frequency: "weekly", status: "active" });
  expect((await run("monitors", "list")).stdout).toContain(created.id);
  await run("monitors", "update", created.id, "--frequency", "monthly", "--external-id", "V-1");
  const changed = JSON.parse((await run("monitors", "get", created.id, "--json")).stdout);
  expect(changed).toMatchObject({ frequency: "monthly", external_id: "V-1" });
  expect((await run("monitors", "get", created.id)).stdout).toMatch(/monthly +active/);
  expect(await run("monitors", "cancel", created.id)).toMatchObject({
    code: 0,
    stdout: `${created.id} is canceled.\n`,
  });
});
