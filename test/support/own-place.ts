import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Product, type ProductOptions, startProduct } from "../../deploy/local/product.ts";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { dropRun } from "./clean-up.ts";
import { testServers } from "./test-servers.ts";

/** A place for one test file on the servers of a test run: names, a folder, and what is closed at the end. */
export interface OwnPlace {
  /** Prefix of the names of databases and, followed by a dot, of topics. */
  readonly prefix: string;
  /** Folder for logs and other files. */
  readonly folder: string;
  /** Folder of the logs, one file for each service. */
  readonly logDir: string;
  /** Registers what `close` calls: the last one first. */
  onClose(close: () => unknown): void;
  /** Starts the whole product with names of this place. `close` stops it and removes its databases, topics and keys. */
  startProduct(
    options: Pick<ProductOptions, "environment" | "exclusions" | "registry"> & {
      readonly servers?: ProductOptions["servers"];
      readonly log?: (line: string) => void;
    },
  ): Promise<Product>;
  /** Closes everything, and removes the folder. */
  close(): Promise<void>;
}

export function ownPlace(): OwnPlace {
  const prefix = `t${randomBytes(4).toString("hex")}_`;
  const folder = join(projectRoot, ".cache", "test-product", prefix);
  const logDir = join(folder, "log");
  mkdirSync(logDir, { recursive: true });
  const closes: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const onClose = (close: () => unknown) => void closes.push(close);
  return {
    ...{ prefix, folder, logDir, onClose },
    async startProduct({ servers = testServers(), log = () => undefined, ...options }) {
      const product = await startProduct({
        ...options,
        ...{ servers, secrets: generateSecrets(), prefix, topicPrefix: `${prefix}.`, logDir, log },
        apiPort: await freePort(),
        dashboardPort: await freePort(),
        onCrash: (service, exit) => log(`${service} crashed: ${exit.signal ?? exit.code}`),
      });
      onClose(async () => {
        await product.stop();
        await dropRun(product.environment, prefix);
      });
      return product;
    },
    async close() {
      for (const close of closes.splice(0).toReversed()) await close();
    },
  };
}
