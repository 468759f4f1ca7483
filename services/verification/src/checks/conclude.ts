import type { Check } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Parts } from "@vvs/registration";
import type { Client } from "@vvs/rpc";
import { type CallerContext, type Tenant, toProtoCaller } from "@vvs/tenant";
import type { AnswerDocument, Mode } from "../documents.ts";
import { checkDuration } from "../metrics.ts";
import { readOwnData } from "../own-data.ts";
import { type MonitorRun, TinReplacedError } from "../providers/provider.ts";
import { type ProvidersByEnvironment, providersOf } from "../providers/providers.ts";
import { readRegistry } from "../providers/sam-gov/registry-reader.ts";
import type { VerificationStore } from "../store.ts";
import { startTimeLimit } from "../time-limit.ts";
import { type CheckSubject, inputsFingerprint, missingInput, restsOnParts } from "./check-inputs.ts";
import { createCheckTin } from "./check-tin.ts";
import type { Conclusion } from "./conclusion.ts";
import type { ObserveAttempts } from "./observe-attempts.ts";
import { runCheck } from "./run-check.ts";
import type { AnswerKey } from "./stored-answers.ts";
import type { Subjects } from "./subjects.ts";

/** Time limits, in milliseconds. */
export interface TimeLimits {
  /** From the start of a call until its checks end; the rest of the call's time is for storing. */
  readonly callMs: number;
  /** One check. */
  readonly checkMs: number;
  /** One attempt at one provider, short enough for the next one to be asked. */
  readonly attemptMs: number;
}

/** A check to conclude, without its name. */
export interface CheckTask {
  readonly caller: CallerContext;
  readonly subject: CheckSubject;
  /** The TIN that the call itself supplied, and that the subject's hash stands for; empty where it supplied none. */
  readonly suppliedTin: string;
  readonly mode: Mode;
  readonly run: MonitorRun | undefined;
  /** Aborts when the whole call's time is over. */
  readonly signal: AbortSignal;
}

export interface ConcluderOptions {
  readonly store: Pick<VerificationStore, "newestAnswer">;
  readonly entities: Pick<Client<typeof EntityService>, "revealTin" | "getRegistryRecord">;
  readonly subjects: Pick<Subjects, "read">;
  readonly providers: ProvidersByEnvironment;
  readonly observe: ObserveAttempts;
  readonly limits: TimeLimits;
  readonly now: () => Date;
}

/** Maximum number of times that other calls may replace a check's TIN before it is revealed. */
const MAX_REPLACEMENTS = 5;

/**
 * Creates the function that concludes one check: an error where an input is missing; the newest stored answer where the
 * mode allows it and there is one; otherwise the providers' answer. Errors: the store's; service_unavailable where our own
 * data can't be read; never a provider's.
 */
export function createConcluder(options: ConcluderOptions): (check: Check, task: CheckTask) => Promise<Conclusion> {
  return async (check, task) => {
    const began = performance.now();
    const conclusion = await conclude(options, check, task);
    checkDuration.record((performance.now() - began) / 1_000, { check, mode: task.mode, status: statusOf(conclusion) });
    return conclusion;
  };
}

async function conclude(options: ConcluderOptions, check: Check, task: CheckTask): Promise<Conclusion> {
  const limit = startTimeLimit(options.limits.checkMs, task.signal);
  try {
    return await concludeWithCurrentTin(options, check, { ...task, signal: limit.signal });
  } finally {
    limit.release();
  }
}

/** Concludes the check again where another call replaced its TIN: an answer and its fingerprint must be about one TIN. */
async function concludeWithCurrentTin(
  options: ConcluderOptions,
  check: Check,
  task: CheckTask,
  replacements = 0,
): Promise<Conclusion> {
  try {
    return await concludeOnce(options, check, task);
  } catch (error) {
    if (!(error instanceof TinReplacedError)) throw error;
    if (replacements === MAX_REPLACEMENTS) {
      throw new ServiceError("service_unavailable", { retryAfterSeconds: 1, cause: error });
    }
    const { tinHash } = await options.subjects.read(task.caller.tenant, task.subject.entityId);
    return concludeWithCurrentTin(options, check, { ...task, subject: { ...task.subject, tinHash } }, replacements + 1);
  }
}

async function concludeOnce(options: ConcluderOptions, check: Check, task: CheckTask): Promise<Conclusion> {
  const { caller, subject, mode } = task;
  const fingerprint = inputsFingerprint(check, subject);
  const missing = missingInput(check, subject);
  if (missing) return { kind: "error", check, fingerprint, reason: missing, attempts: [] };
  const key = { entityId: subject.entityId, check, fingerprint };
  if (mode === "cached") {
    const stored = await options.store.newestAnswer(caller.tenant, key);
    if (stored && !(await isWithdrawn(options, stored, task))) return { kind: "stored", check, fingerprint, stored };
  }
  const stored = await storedParts(options, key, caller.tenant);
  const { attempts, ...run } = await askProviders(options, check, task, stored);
  return run.answer
    ? { kind: "answered", check, fingerprint, attempts, answer: run.answer, origin: run.answer.origin ?? run.origin }
    : { kind: "error", check, fingerprint, attempts, reason: run.reason };
}

/** Does a stored answer rest on a file whose load was withdrawn? Asks entity only where it rests on a file. */
async function isWithdrawn(
  { entities }: ConcluderOptions,
  { parts }: AnswerDocument,
  { caller: { tenant }, subject: { uei, cage }, signal }: CheckTask,
): Promise<boolean> {
  const loads = [parts?.registration?.load, parts?.exclusions?.load].filter((load) => load);
  if (loads.length === 0) return false;
  const { withdrawnLoads } = await readRegistry(entities, { tenant, uei, cage }, signal);
  return loads.some((load) => withdrawnLoads.includes(load!));
}

/** Returns the parts of the newest stored answer, which a new answer may reuse. In the sandbox no answer reuses another. */
async function storedParts({ store }: ConcluderOptions, key: AnswerKey, tenant: Tenant): Promise<Parts | undefined> {
  if (!restsOnParts(key.check) || tenant.environment === "sandbox") return undefined;
  return (await store.newestAnswer(tenant, key))?.parts;
}

async function askProviders(options: ConcluderOptions, check: Check, task: CheckTask, stored: Parts | undefined) {
  const { providers, observe, limits, now } = options;
  const { caller, subject } = task;
  const { environment } = caller.tenant;
  const tin = createCheckTin(async (signal) => task.suppliedTin || revealTin(options.entities, task, signal));
  const run = await runCheck({
    providers: providersOf(providers, environment, check),
    question: {
      tenant: caller.tenant,
      uei: subject.uei,
      cage: subject.cage,
      legalName: subject.legalName,
      tin: tin.read,
      run: task.run,
      stored,
    },
    signal: task.signal,
    attemptMs: limits.attemptMs,
    now,
    observe: observe(environment),
  });
  return run.answer ? { ...run, answer: tin.mask(run.answer) } : run;
}

/** Reads the TIN that the subject's hash stands for. Errors: TinReplacedError, service_unavailable. */
async function revealTin(
  entities: ConcluderOptions["entities"],
  { caller, subject: { entityId, tinHash } }: CheckTask,
  signal: AbortSignal,
): Promise<string> {
  const request = { caller: toProtoCaller(caller), entityId, tinHash };
  const revealed = await readOwnData(() => entities.revealTin(request, { signal }).catch(notFoundAsUndefined));
  if (!revealed) throw new TinReplacedError();
  return revealed.tin;
}

function notFoundAsUndefined(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "not_found") return undefined;
  throw error;
}

function statusOf(conclusion: Conclusion): string {
  if (conclusion.kind === "error") return "error";
  return conclusion.kind === "stored" ? conclusion.stored.outcome : conclusion.answer.outcome;
}
