import type { Attributes, BatchObservableCallback, Meter, ObservableGauge } from "@opentelemetry/api";

type Observe = (gauge: ObservableGauge, value: number, attributes?: Attributes) => void;

/**
 * Reads gauges whenever metrics are collected. A series that `read` no longer reports, or not yet when it fails, becomes NaN:
 * OpenTelemetry would export its last value for ever, which nobody could tell from the present one. In Prometheus `max` passes over
 * NaN, and `x >= 0` is absent while all replicas report it. Returns a function that ends it.
 */
export function observeGauges(
  meter: Meter,
  gauges: readonly ObservableGauge[],
  read: (observe: Observe) => void | Promise<void>,
): () => void {
  const reported = new Map<string, readonly [ObservableGauge, Attributes]>();
  const callback: BatchObservableCallback = async (result) => {
    const stale = new Map(reported);
    const observe: Observe = (gauge, value, attributes = {}) => {
      const series = JSON.stringify([gauges.indexOf(gauge), attributes]);
      stale.delete(series);
      reported.set(series, [gauge, attributes]);
      result.observe(gauge, value, attributes);
    };
    try {
      await read(observe);
    } catch {
      // What failed to be read is NaN below; the SDK would drop all of it and only count the failure.
    }
    for (const [gauge, attributes] of stale.values()) result.observe(gauge, Number.NaN, attributes);
  };
  meter.addBatchObservableCallback(callback, [...gauges]);
  return () => meter.removeBatchObservableCallback(callback, [...gauges]);
}
