import { readFileSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@jest/globals";
import { ApiError, checkReceipt, createClient, signWebhook } from "@vendor-verification/client";
import { listening, temporaryFolder } from "@vvs/testing";
import { projectRoot } from "../../deploy/local/services.ts";
import { namedSnippets } from "../guide/snippets.ts";
import { createOrganization } from "../support/organization.ts";
import { installPacked, packClients, runCommand } from "../support/packed-clients.ts";
import { sharedProduct } from "../support/product.ts";

const bin = join(projectRoot, "node_modules/.bin");
const folder = temporaryFolder();

const organization = await createOrganization();
const client = createClient({ baseUrl: sharedProduct().baseUrl, apiKey: organization.keys.sandbox });

/** Runs a command in the folder; returns what it printed. */
function run(command: string, args: readonly string[]): Promise<string> {
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    VENDOR_VERIFICATION_BASE_URL: sharedProduct().baseUrl,
    VENDOR_VERIFICATION_API_KEY: organization.keys.sandbox,
  };
  return runCommand(command, args, { cwd: folder, env });
}

test("the published packages run what their READMEs show", async () => {
  writeFileSync(join(folder, "package.json"), "{}");
  await installPacked(folder, await packClients(folder));
  const snippets = namedSnippets(readFileSync(join(projectRoot, "packages/client/README.md"), "utf8"));
  for (const [name, code] of snippets) writeFileSync(join(folder, name), code);

  expect(await run("node", ["verify.mjs"])).toBe("pass\n");
  expect(await run("node", ["lists.mjs"])).toMatch(/^1 null\nver_\w+ pass\n$/);
  expect(await run("node", ["follow.mjs"])).toMatch(/^evt_\w+ \[[\s\S]*store \S+\n$/);
  expect(await run("node", ["receipts.mjs"])).toMatch(/^sandbox pass [0-9a-f]{64}\nThe receipt was altered/);
  expect(await run("node", ["node_modules/.bin/vendor-verification", "lookup", "--uei", "SANDBXACTVE1"])).toContain(
    "active",
  );

  const types = ["--typeRoots", join(projectRoot, "node_modules/@types"), "--types", "node"];
  const strict = ["--noEmit", "--strict", "--allowJs", "--checkJs", "--module", "nodenext", "--target", "es2024"];
  expect(await run("tsc", [...strict, ...types, ...snippets.keys()])).toBe("");

  const { receiver } = (await import(pathToFileURL(join(folder, "receiver.mjs")).href)) as {
    receiver(secrets: string[], keep: (id: string) => Promise<void>): Server;
  };
  const secret = organization.webhookSecrets.sandbox;
  const kept: string[] = [];
  const url = `http://127.0.0.1:${await listening(receiver([secret], async (id) => void kept.push(id)))}`;
  const headers = await signWebhook("{}", { id: "evt_1", secrets: secret });
  const post = async (body: string) => (await fetch(url, { method: "POST", headers, body })).status;
  expect([await post("{}"), await post("[]"), kept]).toEqual([204, 400, ["evt_1"]]);
}, 120_000);

test("the client reaches every operation of the product", async () => {
  const created = await client.createEntity({ legal_name: "Acme Tools LLC", identifiers: { cage: "1ABC2" } });
  expect(await client.getEntity(created.id)).toEqual(created);
  expect(await client.lookup({ identifiers: { cage: "1abc2" } })).toEqual(created);
  expect((await client.listEntities()).entities).toEqual([created]);
  expect((await client.listSnapshots(created.id)).snapshots).toMatchObject([{ entity_id: created.id, version: 1 }]);
  await client.setExternalId(created.id, "V-7");
  expect((await client.listEntities({ external_id: "V-7" })).entities.map(({ id }) => id)).toEqual([created.id]);

  const checks = ["sam_registration" as const];
  const verification = await client.verify({ entity_id: created.id, checks, mode: "realtime" });
  expect(await client.createVerification({ entity_id: created.id, checks, mode: "cached" })).toMatchObject({
    overall_result: verification.overall_result,
  });
  expect(await client.getVerification(verification.id)).toEqual(verification);
  expect((await client.listVerifications({ entity_id: created.id })).verifications).toHaveLength(2);
  const receipt = await checkReceipt(await client.getReceipt(verification.id), await client.getReceiptKeys());
  expect(receipt).toMatchObject({ iss: sharedProduct().baseUrl, sub: verification.id, environment: "sandbox" });
  expect(receipt.verification).toEqual(verification);
  expect((await client.getEvidence(verification.results[0]!.evidence_uri)).verification_id).toBe(verification.id);
  expect((await client.listProviders()).map(({ name }) => name)).toContain("sandbox_primary");

  const monitor = await client.createMonitor({ entity_id: created.id, checks });
  expect((await client.getMonitor(monitor.id)).status).toBe("active");
  expect((await client.updateMonitor(monitor.id, { frequency: "weekly" })).frequency).toBe("weekly");
  expect((await client.listMonitors()).monitors.map(({ id }) => id)).toContain(monitor.id);
  expect((await client.listMonitorEvents(monitor.id)).events).toEqual([]);
  expect((await client.cancelMonitor(monitor.id)).status).toBe("canceled");
  expect(await client.listEvents({ limit: 1 })).toHaveProperty("next_cursor");
  expect(await client.readEvents({ after: "start" })).toHaveProperty("next_cursor");
});

test("a call that is made twice with one key takes effect once", async () => {
  const request = { legal_name: "Twice LLC" };
  const [one, other] = await Promise.all([
    client.createEntity(request, { idempotencyKey: "order-1" }),
    client.createEntity(request, { idempotencyKey: "order-1" }),
  ]);
  expect(other.id).toBe(one.id);
  const mismatch = client.createEntity({ legal_name: "Other LLC" }, { idempotencyKey: "order-1" });
  await expect(mismatch).rejects.toMatchObject({ status: 422, code: "idempotency_mismatch" });
});

test("refusals are errors with all that the product says", async () => {
  const body = { checks: [], mode: "later", entity_id: "ent_1" };
  const invalid = await client.verify(body as never).catch((error: unknown) => error);
  expect(invalid).toBeInstanceOf(ApiError);
  expect(invalid).toMatchObject({ code: "invalid_request", requestId: expect.stringMatching(/^req_/) });
  expect((invalid as ApiError).details.map(({ path }) => path).toSorted()).toEqual(["checks", "mode"]);
  await expect(client.getEntity("ent_unknown")).rejects.toMatchObject({ status: 404, code: "entity_not_found" });
  const stranger = createClient({ baseUrl: sharedProduct().baseUrl, apiKey: "svc_test_unknown" });
  await expect(stranger.listMonitors()).rejects.toMatchObject({ status: 401, code: "unauthorized" });
});
