import { ServiceError } from "@vvs/errors";
import { RunJudgement, type StandingRun } from "@vvs/proto/verification/v1/verification";
import type { Tenant } from "@vvs/tenant";
import { answerDigest } from "../checks/answer-digest.ts";
import { type CheckTask, type Conclusion, createConcluder } from "../checks/conclude.ts";
import { createReadKnownAnswers } from "../checks/latest-answers.ts";
import { createSubjects } from "../checks/subjects.ts";
import { asUndefined } from "../own-data.ts";
import { createRegistryReader } from "../providers/sam-gov/registry-reader.ts";
import { createSamGovExtract, type LoadedFiles } from "../providers/sam-gov/sam-gov-extract.ts";

/** Maximum number of runs in a call. */
const MAX_TOGETHER = 500;
/** Maximum number of runs whose data is read together: as many as entity answers in a call. */
const READ_TOGETHER = 100;
/** Stands for any later run of a monitor; nothing is stored under it. */
const LATER_RUN = { monitorId: "", runSeq: 2, recordId: "" };
const { SAME, DIFFERENT, OVERDUE } = RunJudgement;

type JudgedRun = Pick<StandingRun, "organizationId" | "entityId" | "digest">;

/** Runs as judged. */
export interface JudgedRuns {
  /** One for each run, in their order. */
  readonly judgements: readonly RunJudgement[];
  /** The files that were loaded; outdated as of when the runs had been judged. */
  readonly files: LoadedFiles;
}

/** Judges runs. Errors: invalid_request; service_unavailable. */
export type JudgeRuns = (runs: readonly JudgedRun[], signal: AbortSignal) => Promise<JudgedRuns>;

/**
 * Creates the function that judges live runs of sam_registration as they would be answered now. Each is concluded as a real one
 * is, all at the same time, with reads that they share and the provider that answers later runs. Nothing is counted as an
 * attempt: no provider is called.
 */
export function createRunJudge(
  options: Omit<Parameters<typeof createConcluder>[0], "store" | "subjects" | "providers" | "observe"> & {
    entities: Parameters<typeof createSubjects>[0] & Parameters<typeof createRegistryReader>[0];
    collections: Parameters<typeof createReadKnownAnswers>[0];
    /** SAM.gov's API is configured. */
    hasApi: boolean;
  },
): JudgeRuns {
  const { entities, collections, hasApi, now } = options;
  const subjects = createSubjects(entities, READ_TOGETHER);
  // Monitors don't watch the names of exclusions.
  const registry = createRegistryReader(entities, { maxTogether: READ_TOGETHER, readsNames: false });
  const provider = createSamGovExtract({ entities: registry, hasApi, now });
  const conclude = createConcluder({
    ...options,
    store: { knownAnswers: createReadKnownAnswers(collections, READ_TOGETHER) },
    subjects,
    providers: { live: [provider], sandbox: [] },
    observe: () => (_provider, _callClass, attempt) => attempt(),
    timedAs: "bulk",
  });

  /** Returns `unanswered` if the loaded files can't answer and SAM.gov's API can't help. */
  async function judge(
    { organizationId, entityId, digest }: JudgedRun,
    { exclusions: fileDate }: LoadedFiles,
    signal: AbortSignal,
  ) {
    const tenant: Tenant = { organizationId, environment: "live" };
    const subject = await subjects.read(tenant, entityId).catch(asUndefined("entity_not_found"));
    if (!subject) return DIFFERENT;
    const caller = { tenant, actor: "", requestId: "" };
    const task: CheckTask = { caller, subject, suppliedTin: "", mode: "realtime", run: LATER_RUN };
    const concluded = await conclude("sam_registration", task, signal);
    if (concluded.kind === "answered") {
      const { exclusions } = concluded.answer.parts ?? {};
      // The file can't know this vendor, such as one that is known by its CAGE only: its date says nothing of this answer.
      if (fileDate && exclusions && exclusions.date < fileDate) return DIFFERENT;
      const now = answerDigest(concluded.check, concluded.fingerprint, concluded.answer);
      return now.equals(digest) ? SAME : DIFFERENT;
    }
    if (concluded.kind === "error" && isOutOfTime(concluded)) {
      throw new ServiceError("service_unavailable", { retryAfterSeconds: 1 });
    }
    const isStale = concluded.kind === "error" && concluded.reason === "stale_source";
    return isStale && !concluded.asking ? "unanswered" : DIFFERENT;
  }

  return async (runs, signal) => {
    if (runs.length > MAX_TOGETHER) {
      throw new ServiceError("invalid_request", { message: `Give at most ${MAX_TOGETHER} runs.` });
    }
    const files = await provider.readFiles(signal);
    const judged = await Promise.all(runs.map((run) => judge(run, files, signal)));
    const { isOutdated } = judged.includes("unanswered") ? await provider.readFiles(signal) : files;
    const judgements = judged.map((each) => (each === "unanswered" ? (isOutdated ? OVERDUE : DIFFERENT) : each));
    return { judgements, files: { ...files, isOutdated } };
  };
}

/** Did our own reads take too long? That says nothing of the vendor. A fault of ours does: its run shows it. */
function isOutOfTime({ reason, attempts }: Extract<Conclusion, { kind: "error" }>): boolean {
  return reason === "providers_failed" && !attempts.some((attempt) => attempt.reason === "internal_error");
}
