import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

let organization: TestOrganization;
let other: TestOrganization;
let mongo: MongoClient;
beforeAll(async () => {
  [organization, other] = [await createOrganization(), await createOrganization()];
  mongo = new MongoClient(process.env.MONGODB_URI!);
});
afterAll(() => mongo.close());

test("what an API key does to a monitor is in the audit log of its organization, without the path of a URL", async () => {
  const { sandbox } = organization;
  const { body: entity } = await sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  const { body: monitor } = await sandbox.post("/v1/monitors", {
    entity_id: entity.id,
    checks: ["sam_registration"],
    frequency: "daily",
    webhook_url: "https://old.example/hooks?token=first",
  });
  await sandbox.patch(`/v1/monitors/${monitor.id}`, { webhook_url: "https://new.example/hooks?token=second" });
  await sandbox.patch(`/v1/monitors/${monitor.id}`, { frequency: "weekly" });
  await sandbox.delete(`/v1/monitors/${monitor.id}`);
  await other.sandbox.delete(`/v1/monitors/${monitor.id}`);
  const log = mongo.db(`${sharedProduct().environment.MONGODB_DATABASE_PREFIX}account`).collection("audit_log");
  const found = await eventually(async () => {
    const entries = await log.find({ target: monitor.id }).sort({ at: 1 }).toArray();
    return entries.length >= 4 ? entries : undefined;
  });
  const by = { organization_id: organization.id, environment: "sandbox", actor: expect.stringMatching(/^key_/) };
  expect(found).toMatchObject([
    { ...by, action: "monitor.created", details: { host: "old.example" } },
    { ...by, action: "monitor.webhook_url_changed", details: { previous_host: "old.example", host: "new.example" } },
    { ...by, action: "monitor.changed", details: { previous_frequency: "daily", frequency: "weekly" } },
    {
      ...by,
      action: "monitor.canceled",

      request_id: expect.stringMatching(/^req_/),
    },
  ]);
  expect(JSON.stringify(found)).not.toMatch(/token|hooks/);
});
