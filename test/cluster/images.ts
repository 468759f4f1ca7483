import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Builder, findBuilder } from "../../deploy/image/builder.ts";
import { run } from "../../deploy/image/run.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { importImage } from "./cluster.ts";
import { buildStoreImage } from "./store-image.ts";

/** Names of the images that the tests' pods run. */
export interface Images {
  readonly product: string;
  readonly mongodb: string;
  readonly kafka: string;
  readonly redis: string;
}

export const BASE = process.env.NODE_IMAGE ?? "docker.io/library/node:26-bookworm-slim";
export const builder: Builder | undefined = await findBuilder();

// Always the same tags, so that a run replaces what an earlier one left in the cluster.
const PRODUCT = "localhost/vendor-verification:cluster-test";
const STORES = "localhost/vendor-verification-stores:cluster-test";
/** A cluster that pulls images takes the official ones. */
const pulls = Boolean(process.env.CLUSTER_PULLS_IMAGES);

export const images: Images = pulls
  ? {
      product: PRODUCT,
      mongodb: "docker.io/library/mongo:8.0",
      kafka: "docker.io/apache/kafka:4.1.0",
      redis: "docker.io/library/redis:8.2",
    }
  : { product: PRODUCT, mongodb: STORES, kafka: STORES, redis: STORES };

/** Builds the images and puts them into the cluster. */
export async function makeImages(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "vvs-cluster-"));
  const makeProduct = async () => {
    const file = join(folder, "product.tar");
    const options = ["--tag", PRODUCT, "--base", BASE, "--save", file];
    await run(process.execPath, ["deploy/image/command.ts", ...options], { cwd: projectRoot });
    await importImage(file);
  };
  const makeStores = async () => {
    const file = join(folder, "stores.tar");
    await buildStoreImage(builder!, BASE, STORES);
    await builder!.save(STORES, file);
    await importImage(file);
  };
  try {
    await Promise.all(pulls ? [makeProduct()] : [makeProduct(), makeStores()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function removeImages(): Promise<void> {
  for (const image of pulls ? [PRODUCT] : [PRODUCT, STORES]) await builder!.remove(image).catch(() => undefined);
}
