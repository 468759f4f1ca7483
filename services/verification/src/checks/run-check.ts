import { ServiceError } from "@vvs/errors";
import { type Answer, type Provider, ProviderError, type Question, TinReplacedError } from "../providers/provider.ts";
import { orAbort, startTimeLimit } from "../time-limit.ts";

/** One attempt to ask one provider. */
export interface Attempt {
  readonly provider: string;
  readonly outcome: "pass" | "fail" | "throw";
  /** The reason of a fail or throw; empty on a plain pass. */
  readonly reason: string;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** The result of asking the providers: an answer with its provider, or the reason why there is none. */
export type CheckRun = { readonly attempts: readonly Attempt[] } & (
  | { readonly answer: Answer; readonly origin: string }
  | { readonly answer: undefined; readonly reason: string }
);

/** Runs one attempt and records it (span, metrics, the provider's health). Returns or throws what the attempt does. */
export type ObserveAttempt = (provider: Provider, attempt: () => Promise<Answer>) => Promise<Answer>;

/**
 * Asks providers in order. After one that throws, or takes longer than `attemptMs` milliseconds, the next one is asked; the
 * first answer is final, also a fail. No provider is asked after the signal has aborted. Where none answered, the reason
 * is `stale_source` if any of them said so, and otherwise `providers_failed`. Errors: those for which `endsCheck` is true.
 */
export async function runCheck(options: {
  providers: readonly Provider[];
  question: Question;
  signal: AbortSignal;
  attemptMs: number;
  now: () => Date;
  observe: ObserveAttempt;
}): Promise<CheckRun> {
  const { providers, question, signal, now, observe } = options;
  const attempts: Attempt[] = [];
  for (const provider of providers) {
    if (signal.aborted) break;
    const startedAt = now();
    const began = performance.now();
    const attempted = (outcome: Attempt["outcome"], reason: string) =>
      void attempts.push({
        provider: provider.name,
        outcome,
        reason,
        startedAt,
        durationMs: Math.round(performance.now() - began),
      });
    try {
      const answer = await observe(provider, () => ask(provider, question, signal, options.attemptMs));
      attempted(answer.outcome, answer.reason);
      return { attempts, answer, origin: provider.name };
    } catch (error) {
      if (endsCheck(error)) throw error;
      attempted("throw", throwReason(error));
    }
  }
  const isStale = attempts.some(({ reason }) => reason === "stale_source");
  return { attempts, answer: undefined, reason: isStale ? "stale_source" : "providers_failed" };
}

/** Returns true for errors that say nothing about the provider: our own data could not be read, or the TIN was replaced. */
export function endsCheck(error: unknown): boolean {
  return error instanceof ServiceError || error instanceof TinReplacedError;
}

/** Returns the public word for an error that a provider threw. */
export function throwReason(error: unknown): string {
  return error instanceof ProviderError ? error.reason : "internal_error";
}

async function ask(provider: Provider, question: Question, within: AbortSignal, attemptMs: number): Promise<Answer> {
  const limit = startTimeLimit(attemptMs, within);
  try {
    const work = provider.ask(question, { signal: limit.signal });
    return await orAbort(work, limit.signal, () => new ProviderError("timeout"));
  } finally {
    limit.release();
  }
}
