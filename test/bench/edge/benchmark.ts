import { Agent, get } from "node:http";
import { join } from "node:path";
import type { Product } from "../../../deploy/local/product.ts";
import { startHelper } from "../../support/helper-process.ts";
import { createOrganization, type TestOrganization } from "../../support/organization.ts";
import { startBenchProduct } from "../bench-product.ts";
import type { Benchmark, RowBench } from "../benchmark.ts";
import { closedLoop, type LoadResult, median, percentile, sorted } from "../load.ts";
import { cpuMsOf } from "../lookup/process-figures.ts";
import { round } from "../round.ts";
import { startBareChain } from "./bare-chain.ts";

const IN_FLIGHT = 16;
const ROUND_MS = 4_000;
const WARM_UP_ROUNDS = 2;
/** No request is refused for the rate limit, but each is counted. */
const LIMIT_PER_MINUTE = 1_000_000;

/** What a call through the whole product costs beyond the parts that it can't do without. */
export const edgeBenchmark: Benchmark = {
  name: "edge",
  about: "GET /v1/entities/{id} through the whole product, compared with express, grpc-js and findOne alone",
  conditions: {
    edge_calls: `${IN_FLIGHT} at once on kept connections; rounds of ${ROUND_MS / 1_000} s each, alternating`,
    edge_product: "API key, scope, limit in Redis, gRPC, MongoDB; traces exported to a collector, all services running",
    edge_bare: "express → grpc-js → findOne of the same document, two processes, no telemetry",
  },
  rows: [
    {
      name: "entity",
      sizes: { rounds: { long: 7, short: 5 } },
      targets: { edge_requests_ratio: { at_least: 0.6 }, edge_p99_ratio: { at_most: 2 } },
      measure,
    },
  ],
};

async function measure(bench: RowBench, { rounds }: { rounds: number }): Promise<Record<string, number>> {
  const product = await startEdge(bench);
  const organization = await createOrganization({ product, limitPerMinute: LIMIT_PER_MINUTE });
  const path = await entityOf(organization);
  const bare = await startBareChain(bench);
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  bench.onClose(async () => agent.destroy());
  const headers = { authorization: `Bearer ${organization.keys.live}` };
  const load = (baseUrl: string) => () =>
    closedLoop({ inFlight: IN_FLIGHT, forMs: ROUND_MS, call: () => succeed(`${baseUrl}${path}`, { agent, headers }) });
  const sides = { product: load(product.baseUrl), bare: load(bare) };
  for (let index = 0; index < WARM_UP_ROUNDS; index++) {
    await sides.product();
    await sides.bare();
  }
  const results: Record<keyof typeof sides, LoadResult[]> = { product: [], bare: [] };
  let cpuMs = 0;
  for (let index = 0; index < rounds; index++) {
    const gateway = product.services.pid("gateway");
    const before = cpuMsOf(gateway);
    results.product.push(await sides.product());
    cpuMs += cpuMsOf(gateway) - before;
    results.bare.push(await sides.bare());
  }
  const perSecond = (side: keyof typeof sides) => median(results[side].map((each) => each.perSecond));
  const latencies = (side: keyof typeof sides) => sorted(results[side].flatMap(({ latenciesMs }) => latenciesMs));
  const [own, bareOnes] = [latencies("product"), latencies("bare")];
  const ratios = results.product.map((each, index) => each.perSecond / results.bare[index]!.perSecond);
  return {
    edge_product_per_second: round(perSecond("product"), 0),
    edge_bare_per_second: round(perSecond("bare"), 0),
    edge_requests_ratio: round(median(ratios), 2),
    edge_product_p99_ms: round(percentile(own, 99), 2),
    edge_bare_p99_ms: round(percentile(bareOnes, 99), 2),
    edge_p99_ratio: round(percentile(own, 99) / percentile(bareOnes, 99), 2),
    edge_gateway_cpu_ms_per_request: round(cpuMs / own.length, 3),
    edge_failed_calls: [...results.product, ...results.bare].reduce((sum, { failed }) => sum + failed, 0),
  };
}

async function startEdge(bench: RowBench): Promise<Product> {
  const collector = await startHelper({ name: "collector", script: join(import.meta.dirname, "../otlp-sink.ts") });
  bench.onClose(() => collector.stop());
  return startBenchProduct(bench, { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.line } });
}

/** Creates an entity and returns its path. */
async function entityOf({ live }: TestOrganization): Promise<string> {
  const { body } = await live.post("/v1/entities", { legal_name: "Edge Works LLC", identifiers: { cage: "7Q2W1" } });
  return `/v1/entities/${body.id}`;
}

/** Errors: any answer but 200. */
function succeed(url: string, options: { agent: Agent; headers: Record<string, string> }): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, options, (response) => {
      response.resume();
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`))));
      response.on("error", reject);
    }).on("error", reject);
  });
}
