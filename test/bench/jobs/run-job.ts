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
/** Share of vendors whose registration ended between the day of the file and today: a file can't know whether they renewed. */
const MAX_WAITING = 0.01;

/** Runs a job about this many vendors of a new organization. Returns how long it took from its first rows until each was tried. */
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
    const { waiting } = job!.counts!;
    if (job!.done + waiting === total) {
      if (waiting > total * MAX_WAITING) throw new Error(`the files did not answer ${waiting} rows`);
      if (job!.status !== JobStatus.COMPLETED) await jobs.cancelJob({ caller, jobId }).catch(() => undefined);
      return { organizationId, jobId, seconds, first100Seconds: first100 };
    }
    await setTimeout(POLL_MS);
  }
}
