import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "@jest/globals";
import { checkReceipt, createClient, type JobReceipt } from "@vendor-verification/client";
import { eventually } from "@vvs/testing";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const organization = await createOrganization();

afterAll(async () => {
  const { monitors } = (await organization.sandbox.get("/v1/monitors?limit=100")).body;
  for (const { id } of monitors) await organization.sandbox.delete(`/v1/monitors/${id}`);
});

const terms = { checks: ["sam_registration"], mode: "realtime" };

async function run(body: object, key: string = randomUUID()) {
  const { status, body: job } = await organization.sandbox.post(
    "/v1/jobs",
    { ...terms, ...body },
    { headers: { "Idempotency-Key": key } },
  );
  expect([status, job.error]).toEqual([202, undefined]);
  return job.id as string;
}

const ended = (id: string) =>
  eventually(async () => {
    const { body } = await organization.sandbox.get(`/v1/jobs/${id}`);
    return body.status === "completed" && body;
  });

const resultsOf = async (id: string) =>
  (await organization.sandbox.get(`/v1/jobs/${id}/results?limit=100`)).body.results;

test("a list of vendors becomes decisions", async () => {
  const uei = (value: string) => ({ identifiers: [{ type: "uei", value }] });
  const id = await run({
    vendors: [
      { external_id: "V-1", ...uei("SANDBXACTVE1") },
      { external_id: "V-2", ...uei("SANDBXACTVE1"), legal_name: "Totally Different Company Inc" },
      { external_id: "V-3", ...uei("SANDBXEXPRD1") },
      { external_id: "V-4", identifiers: { uei: "short" } },
      { external_id: "V-5", ...uei("SANDBXACTVE1") },
      { external_id: "V-6", legal_name: "No Such Company Anywhere LLC" },
      { external_id: "V-7", legal_name: (await registered("SANDBXACTVE1")).toLowerCase() },
    ],
  });
  expect(await ended(id)).toMatchObject({
    total: 7,
    done: 7,
    counts: { pass: 4, fail: 1, invalid: 1, not_found: 1, waiting: 0 },
  });
  const results = await resultsOf(id);
  const told = results.map((each: Record<string, unknown>) => [
    each.external_id,
    each.outcome,
    each.decision,
    each.name_agrees,
  ]);
  expect(told).toEqual([
    ["V-1", "pass", "pay", undefined],
    ["V-2", "pass", "review", false],
    ["V-3", "fail", "hold", undefined],
    ["V-4", "invalid", "review", undefined],
    ["V-5", "pass", "pay", undefined],
    ["V-6", "not_found", "review", undefined],
    ["V-7", "pass", "pay", true],
  ]);
  expect(results[0].verification.id).toBe(results[4].verification.id);
  const { body: shown } = await organization.sandbox.get(`/v1/verifications/${results[0].verification.id}`);
  expect(shown).toEqual(results[0].verification);
});

test.each<[string, object, string, object]>([
  [
    "an exclusion without identifiers bears its name",
    { identifiers: { uei: "SANDBXSAMEN2" } },
    "review",
    { doubts: ["same_name"] },
  ],
  [
    "the row names another company",
    { identifiers: { uei: "SANDBXACTVE1" }, legal_name: "Totally Different Company Inc" },
    "review",
    { name_agrees: false, doubts: ["other_name"] },
  ],
  ["it is excluded", { identifiers: { uei: "SANDBXDEBAR1" } }, "hold", {}],
])("a vendor is not paid where %s", async (_name, vendor, decision, more) => {
  const id = await run({ vendors: [vendor] });
  await ended(id);
  const [result] = await resultsOf(id);
  expect(result).toMatchObject({ decision, ...more });
  const { same_name = [] } = result.verification.results[0].details;
  expect(same_name).toHaveLength("name_agrees" in more || decision === "hold" ? 0 : 1);
});

test.each<[string, string, string[], object]>([
  ["is paid where nothing is found", "SANDBXACTVE1", [], { checks: ["tin_match"] }],
  ["is not paid where the vendor is excluded", "SANDBXDEBAR1", ["exclusion"], { checks: ["tin_match"] }],
  ["is not paid where an exclusion bears its name", "SANDBXSAMEN2", ["same_name"], { checks: ["tin_match"] }],
  ["is not paid, cached, where one bears its name", "SANDBXSAMEN2", ["same_name"], { mode: "cached" }],
])("a row that does not check the registration now %s", async (_name, uei, doubts, more) => {
  const vendors = [{ identifiers: { uei, tin: "710000000" }, legal_name: await registered(uei) }];
  for (const each of "mode" in more ? [{}, more] : [more]) {
    const id = await run({ vendors, ...each });
    await ended(id);
    const [result] = await resultsOf(id);
    expect([result.outcome, result.decision]).toEqual(["pass", doubts.length > 0 ? "review" : "pay"]);
    expect(result.doubts ?? []).toEqual(doubts);
  }
});

test("the registered name agrees, and a TIN that matched vouches for the name of a vendor that no registry knows", async () => {
  const tin = `${String(Math.floor(Math.random() * 1e8)).padStart(8, "1")}0`;
  const id = await run({
    checks: ["sam_registration", "tin_match"],
    vendors: [
      { identifiers: { uei: "SANDBXACTVE1", tin }, legal_name: (await registered("SANDBXACTVE1")).toLowerCase() },
      { identifiers: { tin: tin.replace(/^./, "2") }, legal_name: `Unregistered ${randomUUID()}` },
    ],
  });
  await ended(id);
  const [known, unregistered] = await resultsOf(id);
  expect(known).toMatchObject({ outcome: "pass", decision: "pay", name_agrees: true });
  expect(unregistered.verification.results.map(({ status }: { status: string }) => status)).toContain("pass");
  expect(unregistered).toMatchObject({ name_agrees: true });
  expect(JSON.stringify([known, unregistered])).not.toContain(tin.slice(1));
});

async function registered(uei: string): Promise<string> {
  return (await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei } })).body.legal_name;
}

test("each resolved vendor gets one monitor, and a second job makes no second one", async () => {
  const vendors = [{ identifiers: { uei: "SANDBXNACTV1" }, external_id: "V-7" }, { identifiers: { cage: "N/A" } }];
  const job = { vendors, monitor: { frequency: "weekly" } };
  const [one, two] = [await run(job), await run(job)];
  await ended(one);
  await ended(two);
  const ids = [(await resultsOf(one))[0].monitor_id, (await resultsOf(two))[0].monitor_id];
  expect(ids[0]).toMatch(/^mon_/);
  expect(ids[1]).toBe(ids[0]);
  const { body } = await organization.sandbox.get(`/v1/monitors/${ids[0]}`);
  expect(body).toMatchObject({ frequency: "weekly", external_id: "V-7", status: "active" });
});

test("an Idempotency-Key makes one job; a row that no provider can answer waits, and its job can be canceled", async () => {
  const body = { vendors: [{ identifiers: { uei: "SANDBXERRR01" } }] };
  const key = randomUUID();
  const id = await run(body, key);
  expect(await run(body, key)).toBe(id);
  await eventually(async () => (await resultsOf(id))[0]?.outcome === "waiting");
  const canceled = await run(body);
  expect((await organization.sandbox.delete(`/v1/jobs/${canceled}`)).body).toMatchObject({
    status: "canceled",
    done: 0,
  });
});

test("an auditor proves the decisions of a job by its receipt alone", async () => {
  const id = await run({
    vendors: [{ identifiers: { uei: "SANDBXACTVE1" } }, { identifiers: { uei: "SANDBXDEBAR1" } }],
  });
  await ended(id);
  const client = createClient({ baseUrl: sharedProduct().baseUrl, apiKey: organization.keys.sandbox });
  const receipt = await checkReceipt<JobReceipt>(await client.getJobReceipt(id), await client.getReceiptKeys());
  expect(receipt).toMatchObject({ sub: id, environment: "sandbox", job: { status: "completed", total: 2 } });
  expect(receipt.results.map(({ row, decision }) => [row, decision])).toEqual([
    [1, "pay"],
    [2, "hold"],
  ]);
});
