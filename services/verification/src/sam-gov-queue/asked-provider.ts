import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { inputsFingerprint } from "../checks/check-inputs.ts";
import { inputOf, resultOf } from "../checks/observe-attempts.ts";
import { type AttemptCounts, isUnanswered } from "../provider-health/attempt-counts.ts";
import type { CircuitBreakers } from "../provider-health/circuit-breakers.ts";
import type { Provider } from "../providers/provider.ts";
import type { AskedProvider } from "../questions/asked.ts";
import type { QuestionDocument } from "../questions/documents.ts";

const tracer = trace.getTracer("verification");

/**
 * Creates the queue's view of SAM.gov's API: its calls are counted for runs, and its attempts by the circuit and in the
 * provider's history. They are not attempts of a check, which the metrics of attempts count.
 */
export function createAskedProvider(options: {
  provider: Pick<Provider, "name" | "check">;
  breakers: Pick<CircuitBreakers, "admit" | "left" | "leftForFreshness">;
  counts: Pick<AttemptCounts, "count">;
}): AskedProvider {
  const { provider, breakers, counts } = options;
  return {
    callsLeft: () => breakers.left(provider.name, "runs"),
    callsLeftForFreshness: (heldForRuns) => breakers.leftForFreshness(provider.name, heldForRuns),
    attempt: (vendors, work) =>
      tracer.startActiveSpan(`ask ${provider.name} for runs`, { kind: SpanKind.CLIENT }, async (span) => {
        try {
          const settle = await breakers.admit(
            provider.name,
            "runs",
            vendors.length === 1 ? inputOfOne(vendors[0]!) : undefined,
          );
          const began = performance.now();
          try {
            const settled = await work();
            counts.count(provider, performance.now() - began);
            settle({ kind: "answered" });
            return settled;
          } catch (error) {
            if (isUnanswered(error)) counts.count(provider, undefined);
            settle(resultOf(error));
            throw error;
          }
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      }),
  };
}

/** Returns the input of a call about one vendor, the same as that of a direct check. */
function inputOfOne({ uei, cage }: Pick<QuestionDocument, "uei" | "cage">): string {
  return inputOf(inputsFingerprint("sam_registration", { uei, cage, legalName: "", tinHash: new Uint8Array() }));
}
