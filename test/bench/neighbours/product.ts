import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Product } from "../../../deploy/local/product.ts";
import { todaysExclusions } from "../../support/exclusions-file.ts";
import { startBenchProduct } from "../bench-product.ts";
import type { RowBench } from "../benchmark.ts";
import { startBareChain } from "../edge/bare-chain.ts";
import { extractOf, nameModelOf } from "../registry/extract.ts";

const SEED = 1;
const REGISTRY_ROWS = 10_000;
const DAY_MS = 86_400_000;

/**
 * Starts the whole product with a made-up registry, behind one trusted proxy, which the attackers simulate, and beside it
 * a bare chain that reads the same entities and shares only MongoDB and the processors with it.
 */
export async function startNeighbours(bench: RowBench): Promise<{ product: Product; bareUrl: string }> {
  const { folder } = bench;
  const registry = join(folder, "registry.dat");
  const cutDate = new Date(Date.now() - DAY_MS);
  const names = await nameModelOf(SEED);
  await pipeline(
    Readable.from(extractOf({ seed: SEED, size: REGISTRY_ROWS, names, cutDate })),
    createWriteStream(registry),
  );
  const product = await startBenchProduct(bench, {
    registry,
    exclusions: todaysExclusions(folder),
    environment: { TRUSTED_PROXY_HOPS: "1", WEBHOOK_SANDBOX_EVENTS_PER_HOUR: "1000000" },
  });
  return { product, bareUrl: await startBareChain(bench) };
}
