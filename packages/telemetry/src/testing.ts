// For tests of other packages and services: collects their telemetry instead of exporting it.
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { NodeSDK, type NodeSDKConfiguration } from "@opentelemetry/sdk-node";

type Processor = NonNullable<NodeSDKConfiguration["spanProcessors"]>[number];
export type FinishedSpan = Parameters<Processor["onEnd"]>[0];

/** Starts telemetry for this process. Import modules that create instruments on import only after this call. */
export function recordTelemetry() {
  const spans: FinishedSpan[] = [];
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const done = async () => undefined;
  const sdk = new NodeSDK({
    metricReaders: [reader],
    logRecordProcessors: [],
    spanProcessors: [
      { onStart: () => undefined, onEnd: (span) => void spans.push(span), forceFlush: done, shutdown: done },
    ],
  });
  sdk.start();
  return {
    /** Spans that have ended, in the order in which they ended. */
    spans,
    /** Returns the current state of a metric; undefined if nothing was measured. */
    async metric(name: string): Promise<MetricData | undefined> {
      await reader.forceFlush();
      const all = exporter
        .getMetrics()
        .at(-1)!
        .scopeMetrics.flatMap(({ metrics }) => metrics);
      return all.find(({ descriptor }) => descriptor.name === name);
    },
    shutdown: () => sdk.shutdown(),
  };
}
