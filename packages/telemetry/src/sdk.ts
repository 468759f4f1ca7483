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
  /** Sends all collected telemetry; call it last. */
  shutdown(): Promise<void>;
}

/** Exports nothing; spans exist only so that logs have trace ids. */
const unexported = {
  onStart: (_span: unknown, _parent: Context) => undefined,
  onEnd: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};

/**
 * Starts OpenTelemetry, configured by its standard variables. Metrics are always collected for the admin port's
 * /metrics. Traces are exported if OTEL_EXPORTER_OTLP_ENDPOINT (or its _TRACES_ form) is set; otherwise only logs use
 * their ids.
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
        // The admin port is called every few seconds. Calls made with undici have spans of their own.
        ignoreIncomingRequestHook: (request) => /^\/(livez|readyz|metrics)$/.test(request.url ?? ""),
        requireParentforOutgoingSpans: true,
      }),
      ...(exportsTraces
        ? [new MongoDBInstrumentation({ requireParentSpan: true, dbStatementSerializer: filterFields })]
        : []),
    ],
  });
  sdk.start();
  return {
    handleMetrics: (request, response) => prometheus.getMetricsRequestHandler(request, response),
    shutdown: () => sdk.shutdown(),
  };
}

/**
 * Returns the field names of a MongoDB command's filter, without values, and nothing of the documents that it writes.
 */
function filterFields(command: Readonly<Record<string, unknown>>): string {
  return Object.keys(command.filter ?? {}).join(" ");
}
