import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type CallerContext, toProtoCaller } from "@vvs/tenant";
import { createAskedTin } from "./asked-tin.ts";
import { type Check, type CheckSubject, inputsFingerprint, type Mode, missingInput } from "./checks.ts";
import type { Conclusion } from "./conclusion.ts";
import { checkDuration } from "./metrics.ts";
import type { ObserveAttempts } from "./observe-attempts.ts";
import { type MonitorRun, ProviderError } from "./providers/provider.ts";
import { type ProviderRegistry, providersOf } from "./providers/registry.ts";
import { runCheck } from "./run-check.ts";
import type { VerificationStore } from "./store.ts";
import { startTimeLimit } from "./time-limit.ts";

/** How long things may take, in milliseconds. */
export interface TimeLimits {
  /** The checks of one call together. */
  readonly callMs: number;
  readonly checkMs: number;
  /** One call of one provider, so that the next one can still be asked. */
  readonly attemptMs: number;
}

/** One check that is to be concluded. */
export interface CheckTask {
  readonly caller: CallerContext;
  readonly subject: CheckSubject;
  readonly mode: Mode;
  readonly run: MonitorRun | undefined;
  /** Ends the whole call. */
  readonly signal: AbortSignal;
}

export interface ConcluderOptions {
  readonly store: Pick<VerificationStore, "newestAnswer">;
  readonly entities: Pick<Client<typeof EntityService>, "revealTin">;
  readonly providers: ProviderRegistry;
  readonly observe: ObserveAttempts;
  readonly limits: TimeLimits;
  readonly now: () => Date;
}

/**
 * Concludes one check: an error where an input is missing, the newest stored answer where that is allowed and there is
 * one, and else what the providers say. Errors: the store's; never a provider's.
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
  const { caller, subject, mode } = task;
  const fingerprint = inputsFingerprint(check, subject);
  const missing = missingInput(check, subject);
  if (missing) return { kind: "error", check, fingerprint, reason: missing, attempts: [] };
  if (mode === "cached") {
    const key = { entityId: subject.entityId, check, fingerprint };
    const stored = await options.store.newestAnswer(caller.tenant, key);
    if (stored) return { kind: "stored", check, fingerprint, stored };
  }
  const { attempts, ...run } = await askProviders(options, check, task);
  return run.answer
    ? { kind: "answered", check, fingerprint, attempts, answer: run.answer, origin: run.origin }
    : { kind: "error", check, fingerprint, attempts, reason: run.reason };
}

async function askProviders(options: ConcluderOptions, check: Check, task: CheckTask) {
  const { providers, observe, limits, now } = options;
  const { caller, subject } = task;
  const { environment } = caller.tenant;
  const asked = createAskedTin(() => revealTin(options.entities, caller, subject.entityId));
  const limit = startTimeLimit(limits.checkMs, task.signal);
  try {
    const run = await runCheck({
      providers: providersOf(providers, environment, check),
      question: {
        tenant: caller.tenant,
        uei: subject.uei,
        cage: subject.cage,
        legalName: subject.legalName,
        tin: asked.tin,
        run: task.run,
      },
      signal: limit.signal,
      attemptMs: limits.attemptMs,
      now,
      observe: observe(environment),
    });
    return run.answer ? { ...run, answer: asked.mask(run.answer) } : run;
  } finally {
    limit.release();
  }
}

async function revealTin(
  entities: ConcluderOptions["entities"],
  caller: CallerContext,
  entityId: string,
): Promise<string> {
  try {
    return (await entities.revealTin({ caller: toProtoCaller(caller), entityId })).tin;
  } catch (cause) {
    throw new ProviderError("tin_unavailable", { isFault: false, cause });
  }
}

function statusOf(conclusion: Conclusion): string {
  if (conclusion.kind === "error") return "error";
  return conclusion.kind === "stored" ? conclusion.stored.outcome : conclusion.answer.outcome;
}
