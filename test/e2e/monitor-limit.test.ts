import { expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const { environment, prefix } = sharedProduct();

test("a monitor beyond the limit of 100 is 403", async () => {
  const own = await createOrganization();
  const { body: entity } = await own.sandbox.post("/v1/entities", { legal_name: "Much Watched" });
  const mongo = await new MongoClient(environment.MONGODB_URI!).connect();
  const counter = { _id: own.id, active: 99, version: 1, recounts: 0 };
  const counts = mongo.db(`${prefix}monitor_sandbox`).collection<typeof counter>("monitor_counts");
  await counts.updateOne({ _id: own.id }, { $set: counter, $currentDate: { changed_at: true } }, { upsert: true });
  await mongo.close();
  const make = () => own.sandbox.post("/v1/monitors", { entity_id: entity.id, checks: ["sam_registration"] });
  const answers = [await make(), await make()];
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [201, undefined],
    [403, "limit_exceeded"],
  ]);
});
