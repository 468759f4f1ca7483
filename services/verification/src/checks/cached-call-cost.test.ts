import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { Document } from "mongodb";
import type { AnswerDocument } from "../documents.ts";
import type { Provider } from "../providers/provider.ts";
import { startTestService, type TestService } from "../testing/service.ts";

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

test("a cached call finds the newest answer among many in one read of four index entries", async () => {
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
  const answers = db.collection<AnswerDocument>("answers");
  const { _id: _, ...answer } = (await answers.findOne({ organization_id: organizationId }))!;
  const others = Array.from({ length: 300 }, (_, index) => ({
    ...answer,
    _id: newId("evd"),
    ...[{}, { entity_id: newId("ent") }, { organization_id: newId("org") }, { inputs_fingerprint: "other" }][index % 4],
    created_at: new Date(answer.created_at.getTime() - (index + 1) * 1_000),
    outcome: "fail" as const,
  }));
  await answers.insertMany(others);

  await db.command({ profile: 2 });
  expect(await verify(Mode.CACHED)).toMatchObject({ status: CheckStatus.PASS });
  await db.command({ profile: 0 });
  const reads: Document[] = await db
    .collection("system.profile")
    .find({ ns: answers.namespace, op: { $in: ["query", "getmore", "command"] } })
    .toArray();
  expect(reads.map(({ keysExamined, docsExamined, nreturned }) => [keysExamined, docsExamined, nreturned])).toEqual([
    [4, 4, 4],
  ]);
});
