import { expect, test } from "@jest/globals";
import { defaultTextMapGetter, defaultTextMapSetter, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { traceParentPropagator } from "./trace-parent.ts";

test("a client's trace is continued, without its tracestate and baggage", () => {
  const propagator = traceParentPropagator();
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const incoming = { traceparent, tracestate: "vendor=123456789", baggage: "tin=123456789" };
  const context = propagator.extract(ROOT_CONTEXT, incoming, defaultTextMapGetter);
  expect(trace.getSpanContext(context)).toMatchObject({ traceId: "a".repeat(32), spanId: "b".repeat(16) });
  const outgoing = {};
  propagator.inject(context, outgoing, defaultTextMapSetter);
  expect(outgoing).toEqual({ traceparent });
});
