import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ListJobResultsResponseSchema, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { addJobRows, readJobResults } from "./index.ts";

test("rows are stored in calls of at most 500, all in the job of the first", async () => {
  const calls: unknown[] = [];
  const jobs = {
    async addJobRows({ jobId, rows = [] }: { jobId?: string; rows?: readonly unknown[] }) {
      calls.push([jobId, rows.length]);
      return { jobId: "job_1" };
    },
  };
  const rows = Array.from({ length: 1_001 }, (_, index) => ({ row: index + 1 }));
  expect(await addJobRows(jobs as never, { caller: {}, rows })).toBe("job_1");
  expect(calls).toEqual([
    ["", 500],
    ["job_1", 500],
    ["job_1", 1],
  ]);
});

test("rows with long cells or many problems are stored in more calls, each row in one", async () => {
  const calls: number[][] = [];
  const jobs = {
    async addJobRows({ rows = [] }: { rows?: readonly { row?: number }[] }) {
      calls.push(rows.map(({ row = 0 }) => row));
      return { jobId: "job_1" };
    },
  };
  const cells = ["x".repeat(250_000), "x".repeat(50_000)];
  const problems = cells.map((message) => ({ path: "vendor", message }));
  const rows = [{ cells }, { problems }, { cells }, { problems }, { cells }].map((each, index) => ({
    row: index + 1,
    ...each,
  }));
  await addJobRows(jobs as never, { caller: {}, rows });
  expect(calls).toEqual([[1, 2], [3, 4], [5]]);
});

test("results are read page by page, with what was asked for", async () => {
  const calls: unknown[] = [];
  const jobs = {
    async listJobResults({ outcome, afterRow = 0 }: { outcome?: RowOutcome; afterRow?: number }) {
      calls.push([outcome, afterRow]);
      const results = [{ row: afterRow + 1 }, { row: afterRow + 2 }];
      return create(ListJobResultsResponseSchema, { results, nextRow: afterRow < 4 ? afterRow + 2 : 0 });
    },
  };
  const rows: number[] = [];
  for await (const { row } of await readJobResults(jobs, { outcome: RowOutcome.FAIL })) rows.push(row);
  expect(rows).toEqual([1, 2, 3, 4, 5, 6]);
  expect(calls).toEqual([0, 2, 4].map((afterRow) => [RowOutcome.FAIL, afterRow]));
});

test("a job that does not exist is refused before a result is asked for", async () => {
  const jobs = { listJobResults: () => Promise.reject(new Error("job_not_found")) };
  await expect(readJobResults(jobs, {})).rejects.toThrow("job_not_found");
});
