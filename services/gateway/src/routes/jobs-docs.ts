import { jobPageSchema, jobResultPageSchema, jobSchema } from "../render/job.ts";
import { exampleJob, exampleJobResult, lastPage } from "./examples.ts";
import { documented, ok } from "./route.ts";
import { receiptAnswer } from "./verifications-docs.ts";

export const onInvalid = {
  description:
    "What becomes of a vendor that can’t be read: `skip` makes its row `invalid`; `refuse` refuses the whole job with the problems of all rows (at most 20 of a row, and 10,000 in all).",
};

export const monitor = {
  description:
    "Makes sure that each vendor has a monitor with these checks and this URL. An active one that is the same is used. Also requires the scope `monitors:write`.",
};

const example = { "A job": exampleJob };

export const create = documented({
  operationId: "createJob",
  tag: "Verify many",
  summary: "Verify a list of vendors",
  description: `Verifies up to 10,000 vendors in the background. The body may have up to 5 MB, each vendor up to 16 kB, and the job counts as one request.

A vendor with identifiers is resolved as in [Verify a vendor](#verify). One with a name and address only is looked up: a match with a confidence below 0.95 is \`ambiguous\`, and not verified; nothing is created for it. Vendors that are given twice are each answered, and asked once. Each row counts against the budgets and limits of your plan as a call does.

A row that no source can answer now is \`waiting\` and asked again for 24 h; in the sandbox for a minute. The job is \`completed\` when every row has its last answer. Results are kept 30 days, verifications as long as any.`,
  requests: {
    "Three vendors, one of which no provider can answer for now": {
      checks: ["sam_registration"],
      mode: "realtime",
      vendors: [
        {
          external_id: "V-1",
          identifiers: [{ type: "uei", value: "SANDBXACTVE1" }],
          legal_name: "Sandbox Active Vendor LLC",
        },
        { external_id: "V-2", identifiers: [{ type: "uei", value: "SANDBXEXPRD1" }] },
        { external_id: "V-3", identifiers: [{ type: "uei", value: "SANDBXERRR01" }] },
      ],
    },
  },
  answers: {
    202: { description: "The job. Its rows are verified from now on.", body: jobSchema, examples: example },
  },
  errors: ["too_many_rows"],
});

export const list = documented({
  operationId: "listJobs",
  tag: "Verify many",
  summary: "List jobs",
  description: "Lists the jobs of your organization, newest first.",
  answers: ok("A page of jobs.", jobPageSchema, lastPage({ jobs: [exampleJob] })),
});

export const get = documented({
  operationId: "getJob",
  tag: "Verify many",
  summary: "Get a job",
  description: "Returns a job with the numbers of its rows by outcome.",
  answers: ok("The job.", jobSchema, example),
});

export const results = documented({
  operationId: "listJobResults",
  tag: "Verify many",
  summary: "List results",
  description:
    "Lists the rows of a job that have an outcome, in the order given. Rows are not completed in that order: while the job goes on, a row that has no outcome yet can belong on a page that you have read. Read all pages once the job is `completed`. With `Accept: text/csv` or `application/x-ndjson` the answer has all of them, without pages, and the header `X-Job-Status`: unless it is `completed`, rows may be missing. Cells of the CSV that a spreadsheet would take as formulas begin with an apostrophe.",
  answers: ok("A page of results.", jobResultPageSchema, lastPage({ results: [exampleJobResult] })),
});

export const receipt = documented({
  operationId: "getJobReceipt",
  tag: "Verify many",
  summary: "Get a job’s receipt",
  description: `Returns a signed text that proves the results of a job, in the form of a [verification’s receipt](#getReceipt). Its claims are \`iss\`, \`sub\`, \`iat\` and \`environment\` as there; \`job\`; \`files\`: each file that the results rest on with \`file\` where its name is known, \`origin\`, \`data_as_of\` and \`sha256\`; and \`results\`: \`row\`, \`outcome\`, \`decision\`, \`entity_id\`, \`verification_id\` and \`evidence\`, the SHA-256 of each evidence of the row. Of a job that is not completed it has the rows that have an outcome.`,
  ...receiptAnswer,
});

export const cancel = documented({
  operationId: "cancelJob",
  tag: "Verify many",
  summary: "Cancel a job",
  description:
    "Cancels a job: what has not begun is left undone, what is done stays readable. The same again returns the canceled job.",
  answers: ok("The canceled job.", jobSchema, { "A canceled job": { ...exampleJob, status: "canceled" } }),
  errors: ["job_finished"],
});
