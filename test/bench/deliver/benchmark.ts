import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { type Servers, serverCacheDir, startServers } from "../../../deploy/local/servers/index.ts";
import { projectRoot } from "../../../deploy/local/services.ts";
import { startDeliveryStack } from "../../support/delivery-stack.ts";
import { startHelper } from "../../support/helper-process.ts";
import { type Benchmark, UsageError } from "../benchmark.ts";
import { withCloses } from "../with-closes.ts";
import { answers } from "./answers.ts";
import { hanging } from "./hanging.ts";
import { kill } from "./kill.ts";
import { ENDPOINTS, ORGANIZATIONS } from "./population.ts";
import type { Row } from "./row.ts";
import { latency } from "./steady.ts";
import { startSubscribers } from "./subscribers.ts";
import { throughput } from "./throughput.ts";

const rows: readonly Row[] = [throughput, latency, hanging, kill, answers];

/** Deliveries by a real dispatcher process, from Kafka to simulated subscribers. */
export const deliverBenchmark: Benchmark = {
  name: "deliver",
  about: "webhooks from Kafka to 2xx against a bare loop that signs and POSTs, and with hostile subscribers",
  usage: `[${rows.map(({ name }) => name).join("] [")}]`,
  targets: Object.assign({}, ...rows.map(({ targets }) => targets)),
  async run(log, args) {
    const unknown = args.find((arg) => !rows.some(({ name }) => name === arg));
    if (unknown !== undefined) throw new UsageError(`This benchmark has no row ${unknown}.`);
    const chosen = args.length === 0 ? rows : rows.filter(({ name }) => args.includes(name));
    return await withCloses(async (onClose) => {
      const folder = join(projectRoot, ".cache", "bench", `b${randomBytes(4).toString("hex")}`);
      onClose(async () => rmSync(folder, { recursive: true, force: true }));
      const dataDir = join(folder, "servers");
      const servers = await startServers({ dataDir, cacheDir: serverCacheDir(process.env), log, env: process.env });
      onClose(() => servers.stop());
      const figures: Record<string, number> = {};
      for (const row of chosen) Object.assign(figures, await measureRow(row, { servers, folder, log }));
      return { conditions, figures, judged: chosen.flatMap(({ targets }) => Object.keys(targets)) };
    });
  },
};

const conditions = {
  baseline: "undici POST with both signatures, 64 in flight, nothing stored, in a separate process",
  endpoints: `${ENDPOINTS} of ${ORGANIZATIONS} organizations, each with its own address, plain HTTP`,
  events: "each for a different monitor; in the kill row, four for each monitor",
  telemetry: "every span exported over OTLP to a sink on this machine",
  processes: "dispatcher, MongoDB, Kafka, a simulated account service, subscribers and the load on this machine",
  processors: cpus().length,
};

/** Measures a row with its own processes, databases and topics, so that no row affects another. */
function measureRow(
  row: Row,
  { servers, folder, log }: { servers: Servers; folder: string; log: (line: string) => void },
): Promise<Readonly<Record<string, number>>> {
  return withCloses(async (onClose) => {
    log(`${row.name}:`);
    const sink = await startHelper({ name: "otlp-sink", script: join(import.meta.dirname, "../otlp-sink.ts") });
    onClose(() => sink.stop());
    const subscribers = await startSubscribers(ENDPOINTS);
    onClose(() => subscribers.stop());
    const profileDir = process.env.BENCH_PROFILE_DIR;
    const stack = await startDeliveryStack({
      servers,
      prefix: `b${randomBytes(4).toString("hex")}_`,
      folder: join(folder, row.name),
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.line, OTEL_TRACES_SAMPLER: "always_on" },
      nodeOptions: profileDir ? ["--cpu-prof", `--cpu-prof-dir=${profileDir}`] : [],
    });
    onClose(() => stack.remove());
    onClose(() => stack.stop());
    return await row.measure({ stack, subscribers, sinkUrl: sink.line, log, onClose });
  });
}
