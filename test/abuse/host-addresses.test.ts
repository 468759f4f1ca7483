import { expect, test } from "@jest/globals";
import { createOrganization } from "../support/organization.ts";

const HOSTS = ["169.254.169.254", "0xa9fea9fe", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16"];

test("no monitor can be pointed at the host of a cloud, even where private addresses are allowed", async () => {
  const [attacker, neighbor] = await Promise.all([createOrganization(), createOrganization()]);
  const monitorOf = async ({ sandbox }: typeof attacker, webhook_url: string) => {
    const { id: entity_id } = (await sandbox.post("/v1/entities", { legal_name: "Vendor LLC" })).body;
    return sandbox.post("/v1/monitors", { entity_id, checks: ["sam_registration"], frequency: "daily", webhook_url });
  };
  for (const host of HOSTS) {
    const { status, body } = await monitorOf(attacker, `http://${host}/latest/meta-data/`);
    expect([host, status, body.error]).toEqual([host, 400, "invalid_request"]);
  }
  expect((await monitorOf(neighbor, "http://127.0.0.1:9/hook")).status).toBe(201);
});
