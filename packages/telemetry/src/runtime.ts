import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { metrics } from "@opentelemetry/api";

/** Distance of the samples of the event loop's delay, in milliseconds. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** Reports the state of this Node process whenever metrics are collected, with the names of OpenTelemetry's conventions. */
export function observeRuntime(): void {
  const meter = metrics.getMeter("runtime");
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let lastUse = performance.eventLoopUtilization();

  const delayP99 = meter.createObservableGauge("nodejs.eventloop.delay.p99", {
    unit: "s",
    description:
      "99th percentile of how late the event loop was since the last collection. Sustained above 0.1 s: a computation or too much work blocks all calls of this process.",
  });
  const use = meter.createObservableGauge("nodejs.eventloop.utilization", {
    unit: "1",
    description: "Share of the time since the last collection in which the event loop was busy. Near 1: add replicas.",
  });
  const heapUsed = meter.createObservableGauge("v8js.memory.heap.used", {
    unit: "By",
    description: "Used heap of the main thread. If it grows towards the limit for hours, memory leaks.",
  });
  const heapLimit = meter.createObservableGauge("v8js.memory.heap.limit", {
    unit: "By",
    description: "Size of the heap at which the process ends.",
  });
  const resident = meter.createObservableGauge("process.memory.usage", {
    unit: "By",
    description: "Resident memory of the process with all its threads. At the container's limit it is killed.",
  });
  meter.addBatchObservableCallback(
    (result) => {
      // Without samples it is NaN.
      result.observe(
        delayP99,
        delay.count > 0 ? Math.max(0, delay.percentile(99) / NANOSECONDS - RESOLUTION_MS / 1_000) : 0,
      );
      delay.reset();
      const now = performance.eventLoopUtilization();
      result.observe(use, performance.eventLoopUtilization(now, lastUse).utilization);
      lastUse = now;
      const { used_heap_size, heap_size_limit } = getHeapStatistics();
      result.observe(heapUsed, used_heap_size);
      result.observe(heapLimit, heap_size_limit);
      result.observe(resident, process.memoryUsage.rss());
    },
    [delayP99, use, heapUsed, heapLimit, resident],
  );
}
