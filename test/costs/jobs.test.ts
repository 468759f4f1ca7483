import { expect, test } from "@jest/globals";
import { CheckType } from "@vvs/proto/common/v1/common";
import { JobStatus } from "@vvs/proto/verification/v1/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { callerFor } from "../../services/entity/src/testing/application.ts";
import { createLoads } from "../../services/entity/src/testing/loads.ts";
import { commandsDuring, total } from "../support/command-counts.ts";
import { startCostStack } from "./stack.ts";

// How many commands MongoDB gets for a job, over all services.

const ROWS = 200;
const ueiOf = (index: number) => `JKBSTWVXZ${String(index).padStart(3, "0")}`;
const stack = await startCostStack();
const rows = Array.from({ length: ROWS }, (_, index) => ({ 1: ueiOf(index), 12: `VENDOR ${index} LLC` }));
await createLoads(stack.entity).load([{ 1: "ABCDEFGHJK71", 12: "REGISTERED LLC" }, ...rows]);

async function startJob(caller: ReturnType<typeof callerFor>): Promise<string> {
  const { jobClient } = stack.verification;
  const rows = Array.from({ length: ROWS }, (_, index) => ({ row: index + 1, identifiers: { uei: ueiOf(index) } }));
  const { jobId } = await jobClient.addJobRows({ caller, rows });
  const terms = { total: ROWS, checks: [CheckType.SAM_REGISTRATION], mode: Mode.REALTIME, openRows: ROWS };
  await jobClient.startJob({ caller, jobId, ...terms });
  return jobId;
}

async function runJob(organization: string): Promise<void> {
  const { jobClient, jobs } = stack.verification;
  const caller = callerFor(organization);
  const jobId = await startJob(caller);
  await jobs.live.work();
  const { job } = await jobClient.getJob({ caller, jobId });
  expect(job).toMatchObject({ status: JobStatus.COMPLETED, done: ROWS, counts: { pass: ROWS } });
}

// Rows share commands in batches of up to 16, which a busy machine makes smaller; a further command of each row would still show.
test("a job of 200 vendors that the files answer costs at most 1.5 commands a row, over all services", async () => {
  await runJob("org_first");
  await stack.publish(ROWS);
  const counts = await stack.count(ROWS, () => runJob("org_second"));
  expect(total(counts)).toBeLessThanOrEqual(1.5 * ROWS);
});

test("how far a job is costs a command, however many rows it has", async () => {
  const caller = callerFor("org_third");
  const jobId = await startJob(caller);
  const { jobClient } = stack.verification;
  expect(await commandsDuring(stack.clients, () => jobClient.getJob({ caller, jobId }))).toEqual({ "find jobs": 1 });
  expect(await commandsDuring(stack.clients, () => jobClient.listJobs({ caller, page: { limit: 10 } }))).toEqual({
    "find jobs": 1,
  });
});
