import { type Doubt, doubtTexts } from "@vvs/checks/decision";
import { z } from "@vvs/config";
import { decisions, rowOutcomes } from "@vvs/jobs";
import { FieldViolationSchema } from "@vvs/proto/common/v1/common";
import { JobCountsSchema, type JobResult, JobResultSchema, JobSchema } from "@vvs/proto/verification/v1/jobs";
import { candidateSchema, renderCandidate } from "./entity.ts";
import { renderer } from "./renderer.ts";
import { id, page, text, time } from "./schemas.ts";
import { renderVerification, verificationSchema } from "./verification.ts";

/** The outcome of a row, in filters and answers. */
export const rowOutcome = z.enum(rowOutcomes).meta({
  id: "RowOutcome",
  description:
    "`pass`, `fail`, `error`: verified, with this overall result. `ambiguous`: several entities match, or one that is not certain, see `candidates`. `not_found`: none does. `conflict`: an identifier contradicts what the named entity carries. `invalid`: see `problems`. `limit_exceeded`: a limit of your plan. `waiting`: no source could answer yet; it is asked again for 24 h.",
});

const rows = (description: string) => z.int().min(0).describe(description);

const counts = z
  .object({
    pass: rows("Verified: every check passed."),
    fail: rows("Verified: a check failed."),
    error: rows("Verified: a check has no answer, and asking again does not help."),
    ambiguous: rows("Several entities match, or one that is not certain."),
    not_found: rows("No entity matches."),
    conflict: rows("An identifier contradicts the named entity."),
    invalid: rows("Could not be read."),
    limit_exceeded: rows("A limit of your plan is reached."),
    waiting: rows("No source could answer yet; asked again for 24 h."),
  })
  .meta({ id: "JobCounts", description: "Numbers of rows by outcome." });

export const jobSchema = z
  .object({
    id: id("job", "Id of the job."),
    status: z
      .enum(["queued", "running", "completed", "canceled"])
      .describe("`completed`: every row has its last answer."),
    total: rows("Number of vendors."),
    file_rows: z
      .boolean()
      .describe(
        "Whether the list was uploaded in the dashboard, so that `row` in its results is the number of the row in the file.",
      ),
    done: rows("Number of rows that have their last answer."),
    counts,
    created_at: time("When it was created."),
    completed_at: time("When it was completed or canceled; absent before.").optional(),
    results_updated_at: time("When a result was stored last; absent before the first.").optional(),
  })
  .meta({ id: "Job", description: "A list of vendors that is verified in the background." });

const renderFields = renderer(JobSchema, jobSchema, ["counts"]);
const renderCounts = renderer(JobCountsSchema, counts);

/** The public Job. */
export function renderJob(job: Parameters<typeof renderFields>[0]): z.infer<typeof jobSchema> {
  return { ...renderFields(job), counts: renderCounts(job.counts!) };
}

export const jobPageSchema = page("Job", "jobs, newest first", { jobs: z.array(jobSchema) });

const problem = z.object({ path: z.string(), message: z.string() });

const doubtMeanings = Object.entries(doubtTexts)
  .map(([doubt, text]) => `\`${doubt}\`: ${text}.`)
  .join(" ");

export const jobResultSchema = z
  .object({
    row: z
      .int()
      .min(1)
      .describe(
        "Place in the list that was given; 1 for the first vendor. Where the job’s `file_rows` is true, the number of the row in the file, as a spreadsheet program shows it.",
      ),
    external_id: text("Your own number of the vendor, as it was given.").optional(),
    outcome: rowOutcome,
    decision: z
      .enum(decisions)
      .describe(
        "`pay`: every check passed, the name agrees, no exclusion is in force, and none without a UEI and a CAGE bears the vendor’s name. `hold`: a check failed. `review`: anything else.",
      ),
    doubts: z
      .array(z.enum(Object.keys(doubtTexts) as Doubt[]))
      .optional()
      .describe(`What a person must look at before a payment. ${doubtMeanings}`),
    entity_id: id("ent", "The entity that is meant.").optional(),
    legal_name: text("Name of the entity.").optional(),
    name_agrees: z
      .boolean()
      .optional()
      .describe(
        "Whether the name that was given is the registry’s, or where no registry knows the vendor, the one that matched its TIN. Absent where there is nothing to compare.",
      ),
    verification: verificationSchema.optional().describe("Absent where the row was not verified."),
    candidates: z.array(candidateSchema).optional().describe("Where it is `ambiguous`: the best matches, at most 10."),
    monitor_id: id("mon", "The monitor of the vendor, where the job makes monitors.").optional(),
    problems: z
      .array(problem)
      .optional()
      .describe(
        "What is wrong with the row, or why it got no monitor. `path` is a field of the vendor, or the name of a column where the job’s `file_rows` is true; `vendor` and `row` stand for all of it.",
      ),
  })
  .meta({ id: "JobResult", description: "What became of one vendor of a job." });

const renderRow = renderer(JobResultSchema, jobResultSchema, ["verification", "candidates", "problems"]);
const renderProblem = renderer(FieldViolationSchema, problem);

/** The public result of a row. Links to evidence begin with the public base URL. */
export function renderJobResult(result: JobResult, publicBaseUrl: string): z.infer<typeof jobResultSchema> {
  const { verification, candidates, problems } = result;
  return {
    ...renderRow(result),
    verification: verification && renderVerification(verification, publicBaseUrl),
    candidates: candidates.length > 0 ? candidates.map(renderCandidate) : undefined,
    problems: problems.length > 0 ? problems.map(renderProblem) : undefined,
  };
}

export const jobResultPageSchema = page(
  "JobResult",
  "results, in the order given: of the rows that have an outcome by now",
  { results: z.array(jobResultSchema) },
);
