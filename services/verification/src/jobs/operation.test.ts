import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckType } from "@vvs/proto/common/v1/common";
import { JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { eventually } from "@vvs/testing";
import { callerOf, passing, testProvider } from "../testing/calls.ts";
import { startTestService, type TestService } from "../testing/service.ts";

// Jobs while sources are slow or down, while organizations are suspended, and while calls come between the steps of their work.

let service: TestService;
let clockMs = 0;
const now = () => new Date(Date.now() + clockMs);
/** Runs before a vendor is answered. */
let ask: (uei: string) => Promise<void> = async () => {};

beforeAll(async () => {
  const sam = testProvider("sam_gov_extract", "sam_registration", async ({ uei }) => {
    await ask(uei);
    return passing({ dataDate: now() });
  });
  service = await startTestService({ live: [sam], now });
});
afterAll(() => service.stop());
beforeEach(() => {
  clockMs = 0;
  ask = async () => {};
});

const uei = (number: number) => `VENDOR${String(number).padStart(6, "0")}`;
const work = () => service.jobs.live.work();

/** A new organization with vendors 1 to 9. */
function organization() {
  const organizationId = newId("org");
  const caller = callerOf(organizationId);
  const { jobClient } = service;
  for (let number = 1; number < 10; number++) {
    const subject = { legalName: `Vendor ${number}`, uei: uei(number) };
    service.entities.put(organizationId, `ent_${number}`, { subject });
  }
  return {
    organizationId,
    /** Starts a job about these vendors; one that is named again repeats its first row. */
    async start(vendors: readonly number[], checks = [CheckType.SAM_REGISTRATION]): Promise<string> {
      const rows = vendors.map((vendor, index) => {
        const first = vendors.indexOf(vendor);
        return { row: index + 1, entityId: `ent_${vendor}`, sameAs: first < index ? first + 1 : 0 };
      });
      const { jobId } = await jobClient.addJobRows({ caller, rows });
      const terms = { total: rows.length, checks, mode: Mode.REALTIME, openRows: 100 };
      await jobClient.startJob({ caller, jobId, ...terms });
      return jobId;
    },
    cancel: async (jobId: string) => (await jobClient.cancelJob({ caller, jobId })).job!,
    job: async (jobId: string) => (await jobClient.getJob({ caller, jobId })).job!,
    /** The outcomes of rows by their numbers. */
    async outcomes(jobId: string): Promise<Record<number, string>> {
      const { results } = await jobClient.listJobResults({ caller, jobId, limit: 100 });
      return Object.fromEntries(results.map(({ row, outcome }) => [row, RowOutcome[outcome]!]));
    },
  };
}

describe("a job that is canceled while a row is in flight", () => {
  test("counts the repeats of rows that are done", async () => {
    const gate = Promise.withResolvers<void>();
    ask = async (vendor) => {
      if (vendor === uei(2)) await gate.promise;
    };
    const ours = organization();
    const id = await ours.start([1, 2, 1]);
    const working = work();
    await eventually(async () => (await ours.outcomes(id))[1]);
    const answered = await ours.cancel(id);
    gate.resolve();
    await working;
    expect(await ours.outcomes(id)).toEqual({ 1: "PASS", 3: "PASS" });
    expect(answered).toMatchObject({ status: JobStatus.CANCELED, done: 2 });
    expect(await ours.job(id)).toMatchObject({ status: JobStatus.CANCELED, done: 2 });
  });
});
