import type { MessageInitShape } from "@bufbuild/protobuf";
import { CheckType, type Environment } from "@vvs/proto/common/v1/common";
import {
  type JobResult,
  type JobRowSchema,
  RowOutcome,
  type StartJobRequestSchema,
} from "@vvs/proto/verification/v1/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { callerOf } from "./calls.ts";
import type { TestService } from "./service.ts";

/** A vendor of a list; its number is its place where absent. */
export type TestRow = MessageInitShape<typeof JobRowSchema>;

/** What differs from a job that checks registrations in realtime. */
type Terms = Partial<Exclude<MessageInitShape<typeof StartJobRequestSchema>, { $typeName: string }>>;

/** Maximum number of rows in a call. */
const ROWS_TOGETHER = 500;

/** The jobs of an organization, as the gateway sends and reads them. */
export function jobsOf({ jobClient }: Pick<TestService, "jobClient">, organizationId: string, of?: Environment) {
  const caller = callerOf(organizationId, of);

  /** Adds rows to a job, or to a new one where none is named. Returns its id. */
  async function add(rows: readonly TestRow[], to = ""): Promise<string> {
    const numbered = rows.map((row, index) => ({ row: index + 1, ...row }));
    let jobId = to;
    do ({ jobId } = await jobClient.addJobRows({ caller, jobId, rows: numbered.splice(0, ROWS_TOGETHER) }));
    while (numbered.length > 0);
    return jobId;
  }

  /** Starts a job whose rows were added. */
  const startAdded = (jobId: string, total: number, terms: Terms = {}) =>
    jobClient.startJob({
      ...{ caller, jobId, total, openRows: 10_000, checks: [CheckType.SAM_REGISTRATION], mode: Mode.REALTIME },
      ...terms,
    });

  const results = async (jobId: string, of: object = {}): Promise<JobResult[]> =>
    (await jobClient.listJobResults({ caller, jobId, limit: 1_000, ...of })).results;

  return {
    caller,
    add,
    startAdded,
    /** Starts a job about these vendors. Returns its id, or that of the job that was started before with the same key. */
    async start(rows: readonly TestRow[], terms?: Terms): Promise<string> {
      return (await startAdded(await add(rows), rows.length, terms)).job!.id;
    },
    job: async (jobId: string) => (await jobClient.getJob({ caller, jobId })).job!,
    jobs: async () => (await jobClient.listJobs({ caller, page: { limit: 10 } })).jobs,
    cancel: async (jobId: string) => (await jobClient.cancelJob({ caller, jobId })).job!,
    results,
    /** The outcomes of the rows that have one, by their numbers. */
    outcomes: async (jobId: string): Promise<Record<number, string>> =>
      Object.fromEntries((await results(jobId)).map(({ row, outcome }) => [row, RowOutcome[outcome]!])),
  };
}
