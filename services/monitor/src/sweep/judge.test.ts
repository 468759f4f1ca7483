import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { type JudgeRunsRequest, JudgeRunsResponseSchema, RunJudgement } from "@vvs/proto/verification/v1/verification";
import type { MonitorDocument } from "../model/monitor.ts";
import { fresh } from "../testing/fresh-monitor.ts";
import { createJudge } from "./judge.ts";

const { SAME, DIFFERENT, OVERDUE } = RunJudgement;
type Reply = Partial<{ judgements: RunJudgement[]; isOverdue: boolean; registrationAsOf: Date; exclusionsAsOf: Date }>;

const someMonitors = (count: number): MonitorDocument[] =>
  Array.from({ length: count }, (_, index) => ({ ...fresh, _id: `mon_${index}`, entity_id: `ent_${index}` }));

/** A judge whose calls are answered by a function; it notes the entities of each call. */
function judgeWith(answer: (entityIds: string[]) => Reply) {
  const calls: string[][] = [];
  const judge = createJudge({
    judgeRuns: async (request) => {
      const entityIds = (request as JudgeRunsRequest).runs.map(({ entityId }) => entityId);
      calls.push(entityIds);
      const { registrationAsOf, exclusionsAsOf, ...reply } = answer(entityIds);
      return create(JudgeRunsResponseSchema, {
        ...reply,
        ...(registrationAsOf && { registrationAsOf: timestampFromDate(registrationAsOf) }),
        ...(exclusionsAsOf && { exclusionsAsOf: timestampFromDate(exclusionsAsOf) }),
      });
    },
  });
  return { judge, calls };
}

test("monitors are judged 500 in a call; the data is as old as in the call with the oldest", async () => {
  const days = [new Date("2026-03-02"), new Date("2026-03-01")];
  const { judge, calls } = judgeWith((ids) => ({ judgements: ids.map(() => SAME), exclusionsAsOf: days.shift()! }));
  const { findings, isOverdue, dataAsOf } = await judge(someMonitors(501));
  expect(calls.map(({ length }) => length)).toEqual([500, 1]);
  expect([findings.length, new Set(findings), isOverdue]).toEqual([501, new Set(["same"]), false]);
  expect(dataAsOf).toEqual({ exclusions: new Date("2026-03-01") });
});

test("a judgement that this version does not know, and one that is missing, are different", async () => {
  const { judge } = judgeWith(() => ({ judgements: [OVERDUE, 99 as RunJudgement, DIFFERENT] }));
  expect(await judge(someMonitors(4))).toMatchObject({
    findings: ["overdue", "different", "different", "different"],
    isOverdue: true,
  });
});

test("a monitor that can't be judged is different, and the others are judged", async () => {
  const { judge, calls } = judgeWith((ids) => {
    if (ids.includes("ent_3")) throw new ServiceError("internal_error");
    return { judgements: ids.map(() => SAME) };
  });
  const { findings } = await judge(someMonitors(10));
  expect(findings.flatMap((finding, index) => (finding === "same" ? [] : index))).toEqual([3]);
  expect(calls.length).toBeLessThan(10);
});

test("while verification is unavailable, nothing is judged", async () => {
  const { judge } = judgeWith(() => {
    throw new ServiceError("service_unavailable");
  });
  await expect(judge(someMonitors(2))).rejects.toMatchObject({ code: "service_unavailable" });
});
