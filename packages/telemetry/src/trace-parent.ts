import type { TextMapPropagator } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";

/**
 * Carries W3C's traceparent and nothing else. A client's tracestate and baggage are free text: taken over, they would end
 * in spans, records and stores, and could hold what must never be there.
 */
export function traceParentPropagator(): TextMapPropagator {
  const w3c = new W3CTraceContextPropagator();
  return {
    inject: (context, carrier, setter) => w3c.inject(context, carrier, setter),
    extract: (context, carrier, getter) =>
      w3c.extract(context, carrier, {
        keys: (from) => getter.keys(from),
        get: (from, key) => (key === "traceparent" ? getter.get(from, key) : undefined),
      }),
    fields: () => ["traceparent"],
  };
}
