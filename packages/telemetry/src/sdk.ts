import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "@opentelemetry/api";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { MongoDBInstrumentation } from "@opentelemetry/instrumentation-mongodb";
import { AggregationType } from "@opentelemetry/sdk-metrics";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { emitLine, otlpMetricReader } from "./otlp.ts";
import { observeRuntime } from "./runtime.ts";
import { traceParentPropagator } from "./trace-parent.ts";

export interface Telemetry {
  /** Answers with all metrics in Prometheus' text format. */
  handleMetrics(request: IncomingMessage, response: ServerResponse): void;
  /** Sends a JSON line of the log, in the active trace; undefined if logs are not exported. */
  readonly emitLine: ((line: string) => void) | undefined;
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
 * their ids. Metrics and logs are exported as well only if OTEL_METRICS_EXPORTER or OTEL_LOGS_EXPORTER is `otlp`: the standard
 * exports them by default, but installations that scrape would get them twice. Errors: an unknown protocol.
 */
export function startTelemetry(env: NodeJS.ProcessEnv): Telemetry {
  const exportsTraces = Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
  const exportsLogs = env.OTEL_LOGS_EXPORTER === "otlp";
  const prometheus = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const sdk = new NodeSDK({
    // It counts sessions, not connections, several times a command.
    views: [{ instrumentName: "db.client.connection.count", aggregation: { type: AggregationType.DROP } }],
    metricReaders: [prometheus, ...(env.OTEL_METRICS_EXPORTER === "otlp" ? [otlpMetricReader(env)] : [])],
    // If undefined, the SDK creates what the variables say.
    logRecordProcessors: exportsLogs ? undefined : [],
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
  observeRuntime();
  return {
    handleMetrics: (request, response) => prometheus.getMetricsRequestHandler(request, response),
    emitLine: exportsLogs ? emitLine : undefined,
    shutdown: () => sdk.shutdown(),
  };
}

/**
 * Returns the field names of a MongoDB command's filter, without values, and nothing of the documents that it writes.
 */
function filterFields(command: Readonly<Record<string, unknown>>): string {
  return Object.keys(command.filter ?? {}).join(" ");
}
