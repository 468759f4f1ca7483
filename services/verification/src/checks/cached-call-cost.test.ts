import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { Document } from "mongodb";
import type { Provider } from "../providers/provider.ts";
import { startTestService, type TestService } from "../testing/service.ts";
import type { LatestAnswerDocument } from "./latest-answers.ts";

const provider: Provider = {
  name: "played",
  check: "sam_registration",
  ask: async () => ({
    outcome: "pass",
    reason: "",
    confidence: 1,
    dataDate: new Date(),
    facts: {},
    content: "{}",
    contentType: "application/json",
  }),
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ mongodbUri: process.env.MONGODB_URI!, live: [provider] });
});
afterAll(() => service.stop());

test("a cached call finds the latest answer among many in one read of one key", async () => {
  const [organizationId, entityId] = [newId("org"), newId("ent")];
  service.entities.put(organizationId, entityId, { subject: { legalName: "Acme LLC", uei: "ABCDEFGHJK12" } });
  const verify = async (mode: Mode) => {
    const { verification } = await service.client.verify({
      caller: { tenant: { organizationId, environment: Environment.LIVE }, actor: "key_1" },
      target: { case: "entityId", value: entityId },
      checks: [CheckType.SAM_REGISTRATION],
      mode,
    });
    return verification!.results[0]!;
  };
  await verify(Mode.REALTIME);
  const db = service.databases.live;
  const latest = db.collection<LatestAnswerDocument>("latest_answers");
  const stored = (await latest.findOne({ organization_id: organizationId }))!;
  await latest.insertMany(Array.from({ length: 300 }, (_, index) => ({ ...stored, _id: `${index} ${stored._id}` })));

  await db.command({ profile: 2 });
  expect(await verify(Mode.CACHED)).toMatchObject({ status: CheckStatus.PASS });
  await db.command({ profile: 0 });
  const reads: Document[] = await db
    .collection("system.profile")
    .find({ ns: /answers$/, op: { $in: ["query", "getmore", "command"] } })
    .toArray();
  expect(reads.map(({ keysExamined, docsExamined, nreturned }) => [keysExamined, docsExamined, nreturned])).toEqual([
    [1, 1, 1],
  ]);
});
