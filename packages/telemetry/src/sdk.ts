import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "@opentelemetry/api";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { MongoDBInstrumentation } from "@opentelemetry/instrumentation-mongodb";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { traceParentPropagator } from "./trace-parent.ts";

export interface Telemetry {
  /** Answers with all metrics in Prometheus' text format. */
  handleMetrics(request: IncomingMessage, response: ServerResponse): void;
  /** Sends what is still held; call last. */
  shutdown(): Promise<void>;
}

/** Spans get ids, for logs, and go nowhere. */
const unexported = {
  onStart: (_span: unknown, _parent: Context) => undefined,
  onEnd: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};

/**
 * Starts OpenTelemetry by its standard variables. Metrics are always kept for the admin port's /metrics; traces are
 * exported where OTEL_EXPORTER_OTLP_ENDPOINT (or its _TRACES_ form) is set, and else only give their ids to the logs.
 */
export function startTelemetry(env: NodeJS.ProcessEnv): Telemetry {
  const exportsTraces = Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
  const prometheus = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const sdk = new NodeSDK({
    metricReaders: [prometheus],
    logRecordProcessors: [],
    textMapPropagator: traceParentPropagator(),
    ...(exportsTraces ? {} : { spanProcessors: [unexported] }),
    instrumentations: [
      new HttpInstrumentation({
        // The admin port is asked every few seconds, and calls made with undici carry spans of their own.
        ignoreIncomingRequestHook: (request) => /^\/(livez|readyz|metrics)$/.test(request.url ?? ""),
        requireParentforOutgoingSpans: true,
      }),
      ...(exportsTraces
        ? [new MongoDBInstrumentation({ requireParentSpan: true, dbStatementSerializer: fieldsAskedFor })]
        : []),
    ],
  });
  sdk.start();
  return {
    handleMetrics: (request, response) => prometheus.getMetricsRequestHandler(request, response),
    shutdown: () => sdk.shutdown(),
  };
}

/** What a MongoDB command asks by, without the values; of documents that it writes, nothing, which also spares walking them. */
function fieldsAskedFor(command: Readonly<Record<string, unknown>>): string {
  return Object.keys(command.filter ?? {}).join(" ");
}
