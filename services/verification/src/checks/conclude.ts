import type { Check, ErrorReason } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type CallerContext, type Environment, toProtoCaller } from "@vvs/tenant";
import type { AnswerDocument, Mode } from "../documents.ts";
import { checkDuration } from "../metrics.ts";
import { asUndefined, readOwnData } from "../own-data.ts";
import type { CheckRun } from "../providers/check-run.ts";
import { isLaterRun, type MonitorRun, type Provider, TinReplacedError } from "../providers/provider.ts";
import { type ProvidersByEnvironment, providersOf } from "../providers/providers.ts";
import { questionKey } from "../questions/question.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { AskWithinLimits } from "../tin-guessing/guess-limits.ts";
import type { ReadTinTerms } from "../tin-guessing/tin-terms.ts";
import { type CheckSubject, inputsFingerprint, missingInput, restsOnParts, revealsSecrets } from "./check-inputs.ts";
import { createCheckTin } from "./check-tin.ts";
import type { ReadKnownAnswers } from "./latest-answers.ts";
import type { ObserveAttempts } from "./observe-attempts.ts";
import { runCheck } from "./run-check.ts";
import type { Subjects } from "./subjects.ts";
import type { ReadWithdrawnLoads } from "./withdrawn-loads.ts";

/** Time limits, in milliseconds. */
export interface TimeLimits {
  /** From the start of a call until its checks end; the rest of the call's time is for storing. */
  readonly callMs: number;
  /** One check. */
  readonly checkMs: number;
  /** One attempt at one provider, short enough for the next one to be asked. */
  readonly attemptMs: number;
}

/** Those of a check and of a call, which is answered within 25 s. */
export const timeLimits = { callMs: 21_000, checkMs: 20_000 } as const;

/** What is to be verified, and for whom. */
export interface CheckTask {
  readonly caller: CallerContext;
  readonly subject: CheckSubject;
  /** The TIN that the call itself supplied, and that the subject's hash stands for; empty where it supplied none. */
  readonly suppliedTin: string;
  /** The name that the call gave; absent where it gave none. */
  readonly givenName?: string;
  /** As in `ResolvedSubject`. */
  readonly nameAgrees?: boolean;
  readonly mode: Mode;
  /** Greatest age of the data of a stored answer that a cached call uses; absent: any age. */
  readonly maxAgeSeconds?: number | undefined;
  /** No provider may be asked: without a stored answer the check is not concluded. */
  readonly onlyStored?: boolean;
  /** Only for a monitor's run, with the id of the record that requested it. */
  readonly run?: (MonitorRun & { readonly recordId: string }) | undefined;
  /** Only for a job's row: its id, and whether it has waited for SAM.gov's API. */
  readonly row?: { readonly id: string; readonly wasParked: boolean } | undefined;
}

/** A check has no stored answer that its task may use, and may not ask a provider. */
export class NothingStoredError extends Error {}

/** The result of one check of a verification, before it is stored. */
export type Conclusion = {
  readonly check: Check;
  readonly fingerprint: string;
  /** Keyed hash of the TIN that the vendor had then. */
  readonly tinHash?: Uint8Array;
  /** The organization had no answer to the question yet. */
  readonly isFirst?: boolean;
} & (CheckRun | { readonly kind: "stored"; readonly stored: AnswerDocument });

/** Concludes one check. `signal` aborts when the whole call's time is over. */
export type Conclude = (check: Check, task: CheckTask, signal: AbortSignal) => Promise<Conclusion>;

/** Maximum number of times that other calls may replace a check's TIN before it is revealed. */
const MAX_REPLACEMENTS = 5;

/**
 * Creates the function that concludes one check: an error where an input or every provider is missing; the newest stored answer where the
 * mode allows it and there is one; otherwise the providers' answer. Errors: the store's; service_unavailable where our own
 * data can't be read; NothingStoredError; never a provider's.
 */
export function createConcluder(options: {
  store: { readonly knownAnswers: ReadKnownAnswers };
  withdrawnLoads: ReadWithdrawnLoads;
  entities: Pick<Client<typeof EntityService>, "revealTin" | "recordTinMatch">;
  subjects: Pick<Subjects, "read">;
  providers: ProvidersByEnvironment;
  /** Whether an organization may ask about TINs, and how often. */
  tinTerms: ReadTinTerms;
  askWithinLimits: AskWithinLimits;
  observe: ObserveAttempts;
  limits: TimeLimits;
  /** The mode by which durations are reported; the task's where absent. */
  timedAs?: "bulk";
  now: () => Date;
}): Conclude {
  const { store, withdrawnLoads, entities, subjects, providers, tinTerms, observe, limits, now } = options;

  const conclude: Conclude = async (check, task, signal) => {
    const { caller, subject, mode } = task;
    const { tenant } = caller;
    const fingerprint = inputsFingerprint(check, subject);
    const isLive = tenant.environment === "live";
    const terms = isLive && revealsSecrets(check) ? await tinTerms(tenant) : undefined;
    const configured = providersOf(providers, tenant.environment, check);
    const refuse = (reason: ErrorReason): Conclusion => ({ kind: "error", check, fingerprint, reason, attempts: [] });
    if (terms?.isEnabled === false) return refuse("not_enabled");
    const missing = missingInput(check, subject);
    if (missing) return refuse(configured.length > 0 ? missing : "not_configured");
    const readKnown = (publicKey?: string) =>
      store.knownAnswers(tenant, { entityId: subject.entityId, check, fingerprint }, publicKey);
    if (mode === "cached") {
      const { newest: stored } = await readKnown();
      const isUsable = stored && isYoungEnough(stored, task, now()) && !(await isWithdrawn(stored, tenant.environment));
      if (isUsable) {
        if (isTinMatch(stored)) await recordTinMatch(task, task.suppliedTin);
        return { kind: "stored", check, fingerprint, stored };
      }
    }
    if (configured.length === 0) return refuse("not_configured");
    if (task.onlyStored) throw new NothingStoredError();
    // In the sandbox no answer reuses parts of another.
    const isReused = restsOnParts(check) && isLive;
    const known = isReused ? await readKnown(questionKey(subject)) : undefined;
    const { uei, cage, legalName, entityType } = subject;
    const tin = createCheckTin(legalName, async (within) => task.suppliedTin || revealTin(task, within));
    const run = task.run ?? (isLive ? runOfRow(task) : undefined);
    const ask = () =>
      runCheck({
        providers: configured.filter((each) => isAsked(each, run)),
        question: {
          tenant,
          uei,
          cage,
          legalName,
          entityType,
          tin: tin.read,
          run,
          stored: known?.newest?.parts,
          kept: known?.kept,
        },
        signal,
        attemptMs: limits.attemptMs,
        now,
        observe: observe(tenant, fingerprint),
      });
    // Whoever has an answer to the same question learns nothing that they could not read.
    const isGuess = terms !== undefined && !(await readKnown()).newest;
    const asked = isGuess ? await options.askWithinLimits(tenant, { subject, ...terms }, ask) : await ask();
    if (asked.kind !== "answered") return { check, fingerprint, ...asked };
    if (isTinMatch({ check_type: check, ...asked.answer })) await recordTinMatch(task, tin.ifRead());
    const isFirst = known?.newest === null;
    return { check, fingerprint, isFirst, ...asked, answer: tin.complete(asked.answer) };
  };

  /**
   * Has entity remember that a TIN matched, before anything is stored or answered: a caller with the answer can rely on it,
   * and after a crash in between the repeated call does it again. Errors: service_unavailable.
   */
  async function recordTinMatch({ caller, subject, suppliedTin }: CheckTask, tin: string): Promise<void> {
    const { entityId, tinHash, tinMatchRecorded } = subject;
    if (tinMatchRecorded) return;
    const match = { caller: toProtoCaller(caller), entityId, tinHash, tin, supplied: suppliedTin !== "" };
    await readOwnData(() => entities.recordTinMatch(match));
  }

  /** Does a stored answer rest on a file whose load was withdrawn? */
  async function isWithdrawn({ parts }: AnswerDocument, environment: Environment): Promise<boolean> {
    const loads = [parts?.registration?.load, parts?.exclusions?.load].filter((load) => load);
    if (loads.length === 0) return false;
    const withdrawn = await withdrawnLoads(environment);
    return loads.some((load) => withdrawn.has(load!));
  }

  /** Reads the TIN that the subject's hash stands for. Errors: TinReplacedError, service_unavailable. */
  async function revealTin({ caller, subject: { entityId, tinHash } }: CheckTask, signal: AbortSignal) {
    const request = { caller: toProtoCaller(caller), entityId, tinHash };
    const revealed = await readOwnData(() => entities.revealTin(request, { signal }).catch(asUndefined("not_found")));
    if (!revealed) throw new TinReplacedError();
    return revealed.tin;
  }

  /** Concludes the check again where another call replaced its TIN: an answer and its fingerprint must be about one TIN. */
  const concludeWithCurrentTin = async (
    check: Check,
    task: CheckTask,
    signal: AbortSignal,
    replacements = 0,
  ): Promise<Conclusion> => {
    try {
      return { ...(await conclude(check, task, signal)), tinHash: task.subject.tinHash };
    } catch (error) {
      if (!(error instanceof TinReplacedError)) throw error;
      if (replacements === MAX_REPLACEMENTS) {
        throw new ServiceError("service_unavailable", { retryAfterSeconds: 1, cause: error });
      }
      const { tinHash, tinMatchRecorded } = await subjects.read(task.caller.tenant, task.subject.entityId);
      const current = { ...task, subject: { ...task.subject, tinHash, tinMatchRecorded } };
      return concludeWithCurrentTin(check, current, signal, replacements + 1);
    }
  };

  return async (check, task, signal) => {
    const began = performance.now();
    const conclusion = await withTimeLimit(limits.checkMs, signal, (within) =>
      concludeWithCurrentTin(check, task, within),
    );
    const mode = options.timedAs ?? task.mode;
    checkDuration.record((performance.now() - began) / 1_000, { check, mode, status: statusOf(conclusion) });
    return conclusion;
  };
}

function isYoungEnough({ data_date }: AnswerDocument, { maxAgeSeconds }: CheckTask, now: Date): boolean {
  return maxAgeSeconds === undefined || now.getTime() - data_date.getTime() <= maxAgeSeconds * 1_000;
}

function runOfRow({ row }: CheckTask): MonitorRun | undefined {
  return row && { monitorId: row.id, runSeq: 1, wasParked: row.wasParked, isRow: true };
}

function isAsked({ laterRuns }: Provider, run: MonitorRun | undefined): boolean {
  return laterRuns === undefined || isLaterRun(run) === (laterRuns === "only");
}

function isTinMatch({ check_type, outcome }: Pick<AnswerDocument, "check_type" | "outcome">): boolean {
  return check_type === "tin_match" && outcome === "pass";
}

function statusOf(conclusion: Conclusion): string {
  if (conclusion.kind === "error") return "error";
  return conclusion.kind === "stored" ? conclusion.stored.outcome : conclusion.answer.outcome;
}
