import type { FailReason, ThrowReason } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";
import type { AttemptDocument } from "../documents.ts";
import { type CallClass, callClassOf } from "../providers/call-class.ts";
import type { CheckRun } from "../providers/check-run.ts";
import { type Answer, type Provider, ProviderError, type Question, TinReplacedError } from "../providers/provider.ts";
import type { Asking } from "../questions/question.ts";
import { orAbort, withTimeLimit } from "../time-limit.ts";

/**
 * Runs one attempt, whose HTTP calls have this class, and records it (span, metrics, the provider's health, the
 * organization's budget). Returns or throws what the attempt does.
 */
export type ObserveAttempt = (
  provider: Provider,
  callClass: CallClass,
  attempt: (onFurtherCall?: () => Promise<void>) => Promise<Answer>,
) => Promise<Answer>;

/**
 * Asks providers in order. After one that throws, or takes longer than `attemptMs` milliseconds, the next one is asked; the
 * first answer is final, also a fail. No provider is asked after the signal has aborted. Where none answered, the reason
 * is `stale_source` if any of them said so, with what could be asked, and otherwise `providers_failed`. Errors: those for which `endsCheck` is true.
 */
export async function runCheck(options: {
  providers: readonly Provider[];
  question: Question;
  signal: AbortSignal;
  attemptMs: number;
  now: () => Date;
  observe: ObserveAttempt;
}): Promise<CheckRun> {
  const { providers, question, signal, attemptMs, now, observe } = options;
  const attempts: AttemptDocument[] = [];
  let asking: Asking | undefined;
  for (const provider of providers) {
    if (signal.aborted) break;
    const started_at = now();
    const began = performance.now();
    const attempted = (outcome: AttemptDocument["outcome"], reason: FailReason | ThrowReason | "") => {
      const duration_ms = Math.round(performance.now() - began);
      attempts.push({ provider: provider.name, outcome, reason, started_at, duration_ms });
    };
    try {
      const attempt = (onFurtherCall?: () => Promise<void>) =>
        withTimeLimit(attemptMs, signal, (within) => {
          const asked = provider.ask(question, { signal: within, onFurtherCall });
          return orAbort(asked, within, () => new ProviderError("timeout"));
        });
      const answer = await outside(() => observe(provider, callClassOf(question.run), attempt));
      attempted(answer.outcome, answer.reason);
      return { kind: "answered", attempts, answer, origin: answer.origin ?? provider.name };
    } catch (error) {
      if (endsCheck(error)) throw error;
      if (error instanceof ProviderError) asking = error.asking ?? asking;
      attempted("throw", throwReason(error));
    }
  }
  const isStale = attempts.some(({ reason }) => reason === "stale_source");
  return { kind: "error", attempts, reason: isStale ? "stale_source" : "providers_failed", asking };
}

/** Returns true for errors that say nothing about the provider: our own data could not be read, or the TIN was replaced. */
export function endsCheck(error: unknown): boolean {
  return error instanceof ServiceError || error instanceof TinReplacedError;
}

/** Returns the public word for an error that a provider threw. */
export function throwReason(error: unknown): ThrowReason {
  return error instanceof ProviderError ? error.reason : "internal_error";
}
