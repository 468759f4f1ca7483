import { join } from "node:path";
import { run } from "../../deploy/image/run.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import type { SharedProduct } from "../support/product.ts";

/** Time limit of the tests. Less than jest's own limit, which would leave them running. */
const LIMIT_MS = 540_000;

/** Runs end-to-end tests from this machine, with subscribers at the name by which pods reach it. Errors: a test failed. */
export async function runEndToEnd(product: SharedProduct, subscriberHost: string): Promise<void> {
  const env = { ...process.env, VVS_TEST_PRODUCT: JSON.stringify(product), SUBSCRIBER_HOST: subscriberHost };
  const jest = ["test/jest.ts", "--config", join(import.meta.dirname, "e2e.config.mjs")];
  await run(process.execPath, jest, {
    cwd: projectRoot,
    env,
    signal: AbortSignal.timeout(LIMIT_MS),
    onOutput: (text) => void process.stderr.write(text),
  });
}
