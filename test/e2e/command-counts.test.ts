import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { type CommandCounts, commandsDuring, total } from "../support/command-counts.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const { environment, prefix } = sharedProduct();
const UEI = "ZZNRTHWND001";
let client: MongoClient;
let organization: TestOrganization;
let entityId: string;

beforeAll(async () => {
  client = await new MongoClient(environment.MONGODB_URI!).connect();
  organization = await createOrganization();
  const { body } = await organization.live.post("/v1/entities/lookup", { identifiers: { uei: UEI } });
  entityId = body.id;
  await organization.live.post("/v1/verify", { ...verification, mode: "realtime" });
});
afterAll(() => client.close());

const verification = { identifiers: { uei: UEI }, checks: ["sam_registration"] };
const verify = async (mode: string) => {
  const { status, body } = await organization.live.post("/v1/verifications", {
    ...verification,
    entity_id: entityId,
    identifiers: undefined,
    mode,
  });
  expect([status, body.overall_result]).toEqual([200, "pass"]);
  return body.id as string;
};

/** Counts the commands of verifications, until entity's list of vendors knows the last of them. */
async function commandsOf(work: () => Promise<string[]>): Promise<CommandCounts> {
  let ids: string[] = [];
  const vendors = client.db(`${prefix}entity_live`).collection("vendors");
  const outbox = client.db(`${prefix}verification_live`).collection("outbox");
  return commandsDuring(
    client,
    "live",
    async () => {
      ids = await work();
    },
    async () =>
      (await outbox.countDocuments()) === 0 &&
      (await vendors.countDocuments({ "checks.sam_registration.newest.verification_id": { $in: ids } })) > 0,
  );
}

test("costs", async () => {
  for (let n = 0; n < 5; n++) await verify("cached");
  console.log(JSON.stringify(await commandsOf(async () => [await verify("cached")]), null, 1));
  const many = await commandsOf(() => Promise.all(Array.from({ length: 16 }, () => verify("cached"))));
  console.log(total(many), JSON.stringify(many, null, 1));
  const realtime = await commandsOf(async () => [await verify("realtime")]);
  console.log(total(realtime), JSON.stringify(realtime, null, 1));
});
