import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Product, startProduct } from "../../../deploy/local/product.ts";
import { generateSecrets } from "../../../deploy/local/secrets.ts";
import { freePort } from "../../../deploy/local/servers/free-port.ts";
import { todaysExclusions } from "../../support/exclusions-file.ts";
import { extractOf, nameModelOf } from "../registry/extract.ts";
import type { RowBench } from "../rows.ts";

const SEED = 1;
const REGISTRY_ROWS = 10_000;
const DAY_MS = 86_400_000;

/** Starts the whole product with a made-up registry, behind one trusted proxy, which the attackers simulate. */
export async function startNeighbours(bench: RowBench): Promise<Product> {
  const { servers, prefix, folder, log, onClose } = bench;
  const logDir = join(folder, "log");
  mkdirSync(logDir, { recursive: true });
  const profileDir = process.env.BENCH_PROFILE_DIR;
  const registry = join(folder, "registry.dat");
  const cutDate = new Date(Date.now() - DAY_MS);
  const names = await nameModelOf(SEED);
  await pipeline(
    Readable.from(extractOf({ seed: SEED, size: REGISTRY_ROWS, names, cutDate })),
    createWriteStream(registry),
  );
  const product = await startProduct({
    servers,
    secrets: generateSecrets(),
    prefix,
    topicPrefix: `${prefix}.`,
    apiPort: await freePort(),
    dashboardPort: await freePort(),
    registry,
    exclusions: todaysExclusions(folder),
    environment: {
      TRUSTED_PROXY_HOPS: "1",
      WEBHOOK_SANDBOX_EVENTS_PER_HOUR: "1000000",
      ...(profileDir && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileDir}` }),
    },
    logDir,
    log,
    onLine: () => undefined,
    onCrash: (service) => log(`${service} crashed`),
  });
  onClose(() => product.stop());
  return product;
}
