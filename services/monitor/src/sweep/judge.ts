import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { RunJudgement, type VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import type { DataDates, MonitorDocument } from "../model/monitor.ts";

/** Maximum number of monitors in a call. */
const MAX_TOGETHER = 500;
/** Time limit for a call, in milliseconds. Judging waits behind calls and runs. */
const CALL_MS = 30_000;

/** What a scheduled check of a standing monitor found. */
export type Finding = "same" | "different" | "overdue";

/** Checks as made. */
export interface Judged {
  /** One for each monitor, in their order. */
  readonly findings: readonly Finding[];
  /** The data is too old to confirm anything. */
  readonly isOverdue: boolean;
  /** How old the data is at most; undefined where nothing was judged. */
  readonly dataAsOf: DataDates | undefined;
}

/** Makes the scheduled checks of monitors; of none, it only returns whether the data is overdue. Errors: verification's. */
export type Judge = (monitors: readonly MonitorDocument[]) => Promise<Judged>;

/**
 * Creates the function that has verification judge standing monitors. A monitor that it fails to judge is different: it has a
 * real run, and does not hold up the others.
 */
export function createJudge(verification: Pick<Client<typeof VerificationService>, "judgeRuns">): Judge {
  async function judge(monitors: readonly MonitorDocument[]): Promise<Judged> {
    const runs = monitors.map(({ organization_id: organizationId, entity_id: entityId, last_run }) => ({
      organizationId,
      entityId,
      digest: Buffer.from(last_run?.digest ?? "", "hex"),
    }));
    const reply = await verification.judgeRuns({ runs }, { timeoutMs: CALL_MS });
    const findings = monitors.map((_, index) => findingOf(reply.judgements[index]));
    return {
      findings,
      isOverdue: reply.isOverdue || findings.includes("overdue"),
      dataAsOf: {
        ...(reply.registrationAsOf && { registration: timestampDate(reply.registrationAsOf) }),
        ...(reply.exclusionsAsOf && { exclusions: timestampDate(reply.exclusionsAsOf) }),
      },
    };
  }

  async function judgeApart(monitors: readonly MonitorDocument[]): Promise<Judged> {
    try {
      return await judge(monitors);
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === "internal_error") || monitors.length === 0) throw error;
      if (monitors.length === 1) return { findings: ["different"], isOverdue: false, dataAsOf: undefined };
      const middle = monitors.length / 2;
      return joined([await judgeApart(monitors.slice(0, middle)), await judgeApart(monitors.slice(middle))]);
    }
  }

  return async (monitors) => {
    const chunks = Array.from({ length: Math.ceil(monitors.length / MAX_TOGETHER) }, (_, index) =>
      monitors.slice(index * MAX_TOGETHER, (index + 1) * MAX_TOGETHER),
    );
    return joined(await Promise.all((chunks.length > 0 ? chunks : [[]]).map(judgeApart)));
  };
}

function findingOf(judgement: RunJudgement | undefined): Finding {
  if (judgement === RunJudgement.SAME) return "same";
  return judgement === RunJudgement.OVERDUE ? "overdue" : "different";
}

/** Returns the findings of several calls. The data is as old as in the first call that says it, which has the oldest. */
function joined(calls: readonly Judged[]): Judged {
  return {
    findings: calls.flatMap(({ findings }) => findings),
    isOverdue: calls.some(({ isOverdue }) => isOverdue),
    dataAsOf: oldest(calls.flatMap(({ dataAsOf }) => dataAsOf ?? [])),
  };
}

function oldest(dates: readonly DataDates[]): DataDates | undefined {
  return dates.toSorted((a, b) => ageOf(a) - ageOf(b))[0];
}

const ageOf = ({ registration, exclusions }: DataDates) =>
  (registration?.getTime() ?? 0) + (exclusions?.getTime() ?? 0);
