import { expect, test } from "@jest/globals";
import { JobStatus } from "@vvs/proto/verification/v1/jobs";
import { createLoads } from "../../services/entity/src/testing/loads.ts";
import { jobsOf } from "../../services/verification/src/testing/jobs.ts";
import { commandsDuring, total } from "../support/command-counts.ts";
import { startCostStack } from "./stack.ts";

// How many commands MongoDB gets for a job, over all services.

const ROWS = 200;
const ueiOf = (index: number) => `JKBSTWVXZ${String(index).padStart(3, "0")}`;
const stack = await startCostStack();
const rows = Array.from({ length: ROWS }, (_, index) => ({ 1: ueiOf(index), 12: `VENDOR ${index} LLC` }));
await createLoads(stack.entity).load([{ 1: "ABCDEFGHJK71", 12: "REGISTERED LLC" }, ...rows]);

const vendors = rows.map((_, index) => ({ identifiers: { uei: ueiOf(index) } }));

async function runJob(organization: string): Promise<void> {
  const { start, job } = jobsOf(stack.verification, organization);
  const id = await start(vendors);
  await stack.verification.jobs.live.work();
  expect(await job(id)).toMatchObject({ status: JobStatus.COMPLETED, done: ROWS, counts: { pass: ROWS } });
}

// Rows share commands in batches of up to 16, which a busy machine makes smaller; a further command of each row would still show.
test("a job of 200 vendors that the files answer costs at most 1.5 commands a row, over all services", async () => {
  await runJob("org_first");
  await stack.publish(ROWS);
  const counts = await stack.count(ROWS, () => runJob("org_second"));
  expect(total(counts)).toBeLessThanOrEqual(1.5 * ROWS);
});

test("how far a job is costs a command, however many rows it has", async () => {
  const { start, job, jobs } = jobsOf(stack.verification, "org_third");
  const id = await start(vendors);
  for (const read of [() => job(id), jobs])
    expect(await commandsDuring(stack.clients, read)).toEqual({ "find jobs": 1 });
});
