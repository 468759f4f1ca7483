import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { Document } from "mongodb";
import { putVendor, testProvider, verify } from "../testing/calls.ts";
import { startTestService, type TestService } from "../testing/service.ts";
import type { LatestAnswerDocument } from "./latest-answers.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ live: [testProvider("played")] });
});
afterAll(() => service.stop());

test("a cached call finds the latest answer among many in one read of one key", async () => {
  const vendor = putVendor(service);
  await verify(service, vendor);
  const db = service.databases.live;
  const latest = db.collection<LatestAnswerDocument>("latest_answers");
  const stored = (await latest.findOne({ organization_id: vendor.organizationId }))!;
  await latest.insertMany(Array.from({ length: 300 }, (_, index) => ({ ...stored, _id: `${index} ${stored._id}` })));

  await db.command({ profile: 2 });
  expect((await verify(service, vendor, { mode: Mode.CACHED })).overallResult).toBe(CheckStatus.PASS);
  await db.command({ profile: 0 });
  const reads: Document[] = await db
    .collection("system.profile")
    .find({ ns: /answers$/, op: { $in: ["query", "getmore", "command"] } })
    .toArray();
  expect(reads.map(({ keysExamined, docsExamined, nreturned }) => [keysExamined, docsExamined, nreturned])).toEqual([
    [1, 1, 1],
  ]);
});
