import type { TextMapPropagator } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";

/**
 * Returns a propagator that carries only W3C's traceparent. A client's tracestate and baggage are free text: they would
 * end up in spans, records and stores, and could contain data that must never be there, such as a TIN.
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
