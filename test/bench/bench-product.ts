import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Product, type ProductOptions, startProduct } from "../../deploy/local/product.ts";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import type { RowBench } from "./benchmark.ts";

/** Starts the whole product until the row is done. With BENCH_PROFILE_DIR its processes write CPU profiles there. */
export async function startBenchProduct(
  { servers, prefix, folder, log, onClose }: RowBench,
  options: Pick<ProductOptions, "registry" | "exclusions" | "environment">,
): Promise<Product> {
  const logDir = join(folder, "log");
  mkdirSync(logDir, { recursive: true });
  const profileDir = process.env.BENCH_PROFILE_DIR;
  const product = await startProduct({
    ...options,
    servers,
    secrets: generateSecrets(),
    prefix,
    topicPrefix: `${prefix}.`,
    apiPort: await freePort(),
    dashboardPort: await freePort(),
    environment: {
      ...options.environment,
      ...(profileDir && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileDir}` }),
    },
    logDir,
    log,
    onCrash: (service) => log(`${service} crashed`),
  });
  onClose(() => product.stop());
  return product;
}
