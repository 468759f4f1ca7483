import { context, propagation, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import type { MonitorDocument } from "../monitors/monitor.ts";

/** Returns the active trace context in W3C format, or undefined outside of a trace. */
export function activeTraceparent(): string | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/**
 * Runs `claim` as the root of a new trace, which the run's records carry on to the subscriber. The trace links to the
 * call that created the monitor. It is not a child of that call, because then all runs of a monitor would be one endless
 * trace. If `claim` returns false, because another replica claimed the run, no span is recorded.
 */
export async function inRunTrace(
  monitor: Pick<MonitorDocument, "_id" | "traceparent" | "run_seq">,
  claim: () => Promise<boolean>,
): Promise<boolean> {
  const created = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent: monitor.traceparent }));
  const span = trace.getTracer("monitor").startSpan("monitor run", {
    root: true,
    links: created ? [{ context: created }] : [],
    attributes: { "monitor.id": monitor._id, "monitor.run_seq": monitor.run_seq },
  });
  try {
    const claimed = await context.with(trace.setSpan(context.active(), span), claim);
    if (claimed) span.end();
    return claimed;
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    throw error;
  }
}
