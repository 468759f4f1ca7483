import { type Answer, type Provider, ProviderError, type Question } from "./providers/provider.ts";
import { orAbort, startTimeLimit } from "./time-limit.ts";

/** One call of one provider. */
export interface Attempt {
  readonly provider: string;
  readonly outcome: "pass" | "fail" | "throw";
  /** Why; empty on a plain pass. */
  readonly reason: string;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** What asking came to: an answer with the provider that gave it, or a reason why there is none. */
export type CheckRun = { readonly attempts: readonly Attempt[] } & (
  | { readonly answer: Answer; readonly origin: string }
  | { readonly answer: undefined; readonly reason: string }
);

/** Runs one attempt under observation: a span, a metric, the provider's health. Gives on what the attempt comes to. */
export type ObserveAttempt = (provider: Provider, attempt: () => Promise<Answer>) => Promise<Answer>;

/**
 * Asks providers in order. One that throws, or takes longer than `attemptMs`, hands on to the next; one that answers is
 * final, whatever it answers. The signal ends the whole. Where none answered the reason is `stale_source` if one of
 * them said so, since that is what the caller can know more of, and else `providers_failed`.
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
      attempted("throw", throwReason(error));
    }
  }
  const isStale = attempts.some(({ reason }) => reason === "stale_source");
  return { attempts, answer: undefined, reason: isStale ? "stale_source" : "providers_failed" };
}

/** The public word for what a provider threw. */
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
