import { type Context, context, propagation, ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import type { MonitorDocument } from "../model/monitor.ts";

/** Returns the active trace context in W3C format, or undefined outside of a trace. */
export function activeTraceparent(): string | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The trace of a run, which begins with its claim. */
export interface RunTrace {
  /** Context in which the run's records are made, so that they carry the trace on to the subscriber. */
  readonly context: Context;
  /** Recorded when it ends: end it only if the run was claimed. */
  readonly span: Span;
}

/**
 * Begins a new trace for a run. It links to the call that created the monitor. It is not a child of that call, because
 * then all runs of a monitor would be one endless trace.
 */
export function startRunTrace(monitor: Pick<MonitorDocument, "_id" | "traceparent" | "run_seq">): RunTrace {
  const created = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent: monitor.traceparent }));
  const span = trace.getTracer("monitor").startSpan("monitor run", {
    root: true,
    links: created ? [{ context: created }] : [],
    attributes: { "monitor.id": monitor._id, "monitor.run_seq": monitor.run_seq },
  });
  return { context: trace.setSpan(context.active(), span), span };
}
