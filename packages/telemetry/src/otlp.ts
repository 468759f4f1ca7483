import { type AnyValue, logs, SeverityNumber } from "@opentelemetry/api";
import { OTLPMetricExporter as GrpcExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPMetricExporter as JsonExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";

const EXPORTERS = {
  grpc: () => new GrpcExporter(),
  "http/json": () => new JsonExporter(),
  "http/protobuf": () => new ProtobufExporter(),
} as const;

/** Period of OpenTelemetry's specification. */
const EXPORT_INTERVAL_MS = 60_000;

/** Returns a reader that sends metrics by OTLP, as the standard variables say. Errors: an unknown protocol. */
export function otlpMetricReader(env: NodeJS.ProcessEnv): PeriodicExportingMetricReader {
  const protocol = env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || "http/protobuf";
  if (!Object.hasOwn(EXPORTERS, protocol)) throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL ${protocol} is unknown`);
  return new PeriodicExportingMetricReader({
    exporter: EXPORTERS[protocol as keyof typeof EXPORTERS](),
    exportIntervalMillis: Number(env.OTEL_METRIC_EXPORT_INTERVAL) || EXPORT_INTERVAL_MS,
  });
}

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Sends a JSON line of the log by OTLP, in the active trace. Call it in the context in which the line was logged. */
export function emitLine(line: string): void {
  const { time, level, msg, trace_id, span_id, service, ...attributes } = JSON.parse(line) as Record<string, AnyValue>;
  logs.getLogger("log").emit({
    timestamp: Date.parse(String(time)),
    severityNumber: SEVERITIES[String(level)] ?? SeverityNumber.UNSPECIFIED,
    severityText: String(level),
    body: msg,
    attributes,
  });
}
