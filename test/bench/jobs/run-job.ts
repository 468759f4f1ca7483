import { setTimeout } from "node:timers/promises";
import { newId } from "@vvs/ids";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { JobStatus } from "@vvs/proto/verification/v1/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { VerificationStack } from "../../support/verification-stack.ts";
import { ueiOf } from "../registry/identifiers.ts";

const SEED = 1;
const ROWS_TOGETHER = 500;
const POLL_MS = 50;

/** Runs a job about this many vendors of a new organization. Returns how long it took from its first rows on. */
export async function runJob({ jobs }: Pick<VerificationStack, "jobs">, total: number) {
  const organizationId = newId("org");
  const tenant = { organizationId, environment: Environment.LIVE };
  const caller = { tenant, actor: newId("key"), requestId: newId("req") };
  const began = performance.now();
  let jobId = "";
  for (let first = 0; first < total; first += ROWS_TOGETHER) {
    const rows = Array.from({ length: Math.min(ROWS_TOGETHER, total - first) }, (_, index) => ({
      row: first + index + 1,
      identifiers: { uei: ueiOf(SEED, first + index) },
    }));
    ({ jobId } = await jobs.addJobRows({ caller, jobId, rows }));
  }
  const terms = { total, checks: [CheckType.SAM_REGISTRATION], mode: Mode.REALTIME, openRows: total };
  await jobs.startJob({ caller, jobId, ...terms });
  let first100 = 0;
  for (;;) {
    const { job } = await jobs.getJob({ caller, jobId });
    const seconds = (performance.now() - began) / 1_000;
    if (first100 === 0 && job!.done >= Math.min(100, total)) first100 = seconds;
    if (job!.status === JobStatus.COMPLETED) {
      if (job!.counts!.waiting + job!.counts!.error > 0) throw new Error("the files did not answer every row");
      return { organizationId, jobId, seconds, first100Seconds: first100 };
    }
    await setTimeout(POLL_MS);
  }
}
