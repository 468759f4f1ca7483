import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import type { Environment, Tenant } from "@vvs/tenant";
import { attemptDuration, providerAttempts } from "../metrics.ts";
import type { Charge, ProviderBudgets } from "../provider-budgets/provider-budgets.ts";
import { type AttemptCounts, isUnanswered } from "../provider-health/attempt-counts.ts";
import type { AttemptResult } from "../provider-health/circuit.ts";
import type { CircuitBreakers } from "../provider-health/circuit-breakers.ts";
import { ProviderError } from "../providers/provider.ts";
import { endsCheck, type ObserveAttempt, throwReason } from "./run-check.ts";

/** Returns the observer of the attempts of one check; `fingerprint` is that of its inputs. */
export type ObserveAttempts = (tenant: Tenant, fingerprint: string) => ObserveAttempt;

const tracer = trace.getTracer("verification");

/**
 * Records each attempt as a span, in metrics, in the provider's circuit breaker and in its history, and charges it to the
 * organization's budget. The circuit breaker and the budget may refuse the attempt; a spent budget is checked first, so
 * that it takes no probe. Errors that no provider should throw are logged as bugs of ours.
 */
export function createObserveAttempts(options: {
  breakers: Readonly<Record<Environment, Pick<CircuitBreakers, "admit">>>;
  counts: Readonly<Record<Environment, Pick<AttemptCounts, "count">>>;
  budgets: ProviderBudgets;
  logger: Logger;
}): ObserveAttempts {
  const { breakers, counts, budgets, logger } = options;
  const reported = new WeakSet<Error>();
  return (tenant, fingerprint) => (provider, callClass, attempt) => {
    const { environment } = tenant;
    const attributes = { "vvs.provider": provider.name, "vvs.check": provider.check };
    return tracer.startActiveSpan(`ask ${provider.name}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const began = performance.now();
      let settle: Awaited<ReturnType<CircuitBreakers["admit"]>> | undefined;
      let charge: Charge | undefined;
      const count = (outcome: string) => {
        const labels = { environment, provider: provider.name, check: provider.check, outcome };
        span.setAttribute("vvs.outcome", outcome);
        providerAttempts.add(1, labels);
        if (charge) attemptDuration.record((performance.now() - began) / 1_000, labels);
      };
      try {
        await budgets.check(tenant, provider.name, callClass);
        settle = await breakers[environment].admit(provider.name, callClass, inputOf(fingerprint));
        charge = await budgets.charge(tenant, provider.name, callClass);
        const answer = await attempt(charge.more);
        count(answer.outcome);
        counts[environment].count(provider, performance.now() - began);
        settle({ kind: "answered" });
        return answer;
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        if (endsCheck(error)) {
          settle?.({ kind: "unknown" });
          await charge?.giveBack();
          throw error;
        }
        count(outcomeOf(error, charge !== undefined));
        if (isUnanswered(error)) counts[environment].count(provider, undefined);
        span.setAttribute("vvs.reason", throwReason(error));
        if (!(error instanceof ProviderError))
          logger.error({ err: error, environment, provider: provider.name }, "a provider's adapter failed");
        // Attempts that shared a call throw the same error, which counts as one fault.
        settle?.(reported.has(error as Error) ? { kind: "unknown" } : resultOf(error));
        if (error instanceof Error) reported.add(error);
        throw error;
      } finally {
        span.end();
      }
    });
  };
}

/**
 * Returns what identifies an input in a circuit: a part of the fingerprint of a check's inputs, in which a TIN is a keyed
 * hash. Two inputs have the same one in 1 of 2^48 cases; their faults then count as those of one input.
 */
export function inputOf(fingerprint: string): string {
  return fingerprint.slice(0, 12);
}

/** Returns the outcome of an attempt that threw, as metrics name it. */
function outcomeOf(error: unknown, wasAsked: boolean): "throw" | "input_fault" | "budget_spent" | "shut" {
  const { reason, isInputFault } = error instanceof ProviderError ? error : { reason: "", isInputFault: false };
  if (wasAsked) return isInputFault ? "input_fault" : "throw";
  return reason === "budget_spent" ? "budget_spent" : "shut";
}

/** Returns the result of an attempt that threw. A used-up quota and data that is too old are no faults: the provider was reached. */
export function resultOf(error: unknown): Pick<AttemptResult, "kind" | "shutUntil"> {
  if (!(error instanceof ProviderError)) return { kind: "fault" };
  if (error.shutUntil) return { kind: "reached", shutUntil: error.shutUntil };
  if (error.isInputFault) return { kind: "input_fault" };
  if (error.isFault) return { kind: "fault" };
  return { kind: error.reason === "stale_source" ? "reached" : "unknown" };
}
