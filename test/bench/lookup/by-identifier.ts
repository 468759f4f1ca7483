import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { createClient } from "@vvs/rpc";
import { projectRoot } from "../../../deploy/local/services.ts";
import { startHelper } from "../../support/helper-process.ts";
import { closedLoop, median, percentile, sorted } from "../load.ts";
import { ueiOf } from "../registry/identifiers.ts";
import { randomOf } from "../registry/random.ts";
import { newCaller } from "./caller.ts";
import type { LoadedService } from "./loaded-service.ts";

const ROUND_MS = 3_000;

/** Measures look-ups by UEI, one at a time, alternating between the product and a bare findOne. */
export async function measureByIdentifier(
  service: LoadedService,
  registry: { seed: number; size: number; rounds: number },
): Promise<Record<string, number>> {
  const register = pathToFileURL(join(projectRoot, "packages/telemetry/src/register.ts")).href;
  const bare = await startHelper({
    name: "bare-find",
    script: join(import.meta.dirname, "bare-find.ts"),
    environment: {
      NODE_OPTIONS: `--import ${register}`,
      OTEL_SERVICE_NAME: "bare-find",
      OTEL_EXPORTER_OTLP_ENDPOINT: service.collector,
      MONGODB_URI: service.mongodbUri,
      BARE_DATABASE: service.database,
    },
  });
  const clients = [service.address, `127.0.0.1:${bare.line}`].map((address) =>
    createClient(EntityService, { address, caller: "gateway", tls: undefined }),
  );
  try {
    const caller = newCaller();
    const random = randomOf(registry.seed, 99, 0);
    const calls = clients.map(
      (client) => () =>
        client.lookUp({ caller, identifiers: { uei: ueiOf(registry.seed, random.below(registry.size)) } }),
    );
    for (const call of calls) await closedLoop({ inFlight: 1, forMs: ROUND_MS, call });
    const latencies: number[][] = [[], []];
    const ratios: number[] = [];
    let failed = 0;
    for (let round = 0; round < registry.rounds; round++) {
      const medians: number[] = [];
      for (const [side, call] of calls.entries()) {
        const result = await closedLoop({ inFlight: 1, forMs: ROUND_MS, call });
        failed += result.failed;
        latencies[side]!.push(...result.latenciesMs);
        medians.push(percentile(result.latenciesMs, 50));
      }
      ratios.push(medians[0]! / medians[1]!);
    }
    const [product, bareResult] = latencies.map((values) => sorted(values));
    return {
      identifier_p50_ms: rounded(percentile(product!, 50)),
      identifier_p99_ms: rounded(percentile(product!, 99)),
      bare_p50_ms: rounded(percentile(bareResult!, 50)),
      identifier_p50_to_bare: rounded(median(ratios)),
      failed_calls: failed,
    };
  } finally {
    for (const client of clients) client.close();
    await bare.stop();
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
