import type { Benchmark } from "../benchmark.ts";
import { answers } from "./answers.ts";
import { hanging } from "./hanging.ts";
import { kill } from "./kill.ts";
import { ENDPOINTS, ORGANIZATIONS } from "./population.ts";
import { withStack } from "./row.ts";
import { latency } from "./steady.ts";
import { throughput } from "./throughput.ts";

/** Deliveries by a real dispatcher process, from Kafka to simulated subscribers. */
export const deliverBenchmark: Benchmark = {
  name: "deliver",
  about: "webhooks from Kafka to 2xx against a bare loop that signs and POSTs, and with hostile subscribers",
  conditions: {
    baseline: "undici POST with both signatures, 64 in flight, nothing stored, in a separate process",
    endpoints: `${ENDPOINTS} of ${ORGANIZATIONS} organizations, each with its own address, plain HTTP`,
    events: "each for a different monitor; in the kill row, four for each monitor",
    telemetry: "every span exported over OTLP to a sink on this machine",
    processes: "dispatcher, MongoDB, Kafka, a simulated account service, subscribers and the load on this machine",
  },
  rows: [throughput, latency, hanging, kill, answers].map(withStack),
};
