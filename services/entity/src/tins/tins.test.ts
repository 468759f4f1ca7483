import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { SecretKey } from "@vvs/config";
import type { Tenant } from "@vvs/tenant";
import { createTinVault, type TinHome } from "./tins.ts";

const key = (id: string) => ({ id, key: randomBytes(32) });
const tenant: Tenant = { organizationId: "org_1", environment: "live" };
const home: TinHome = { collection: "entity_identifiers", id: "ent_1" };
const fingerprintKey = randomBytes(32);
const fingerprintKeys = { of: async () => fingerprintKey };

test("a sealed TIN opens only at its own place, and its hash differs between organizations", async () => {
  const vault = createTinVault({ sealingKeys: [key("s1")], hashKeys: [key("h1")], fingerprintKeys });
  const { sealed, hash } = await vault.seal(tenant, home, "123456789");
  expect(() => vault.open(tenant, { ...home, id: "ent_2" }, sealed)).toThrow();
  expect(() => vault.open({ ...tenant, environment: "sandbox" }, home, sealed)).toThrow();
  const elsewhere = vault.hashes({ ...tenant, organizationId: "org_2" }, "123456789")[0]!;
  expect(elsewhere.toString("hex")).not.toBe(hash.toString("hex"));
});

test("TINs that wait in a job open only for their tenant and their job, and one whose key was removed leaves the others", () => {
  const [first, second] = [key("s1"), key("s2")];
  const vault = (...sealingKeys: SecretKey[]) =>
    createTinVault({ sealingKeys, hashKeys: [key("h1")], fingerprintKeys });
  const sealed = [vault(first), vault(second, first)].flatMap((by, index) =>
    by.sealForJob(tenant, "job_1", [`12345678${index}`]),
  );
  expect(vault(second, first).openForJob(tenant, "job_1", sealed)).toEqual(["123456780", "123456781"]);
  expect(vault(second).openForJob(tenant, "job_1", sealed)).toEqual(["", "123456781"]);
  expect(vault(second, first).openForJob(tenant, "job_2", sealed)).toEqual(["", ""]);
  const stranger = { ...tenant, organizationId: "org_2" };
  expect(vault(second, first).openForJob(stranger, "job_1", sealed)).toEqual(["", ""]);
});
