import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { atEnd } from "@vvs/testing";
import { type Product, type ProductOptions, startProduct } from "../../deploy/local/product.ts";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { dropRun } from "./clean-up.ts";
import { testServers } from "./test-servers.ts";

/** A place for one test file on the servers of a test run: names, and a folder that exists until its tests are over. */
export interface OwnPlace {
  /** Prefix of the names of databases and, followed by a dot, of topics. */
  readonly prefix: string;
  /** Folder for logs and other files. */
  readonly folder: string;
  /** Folder of the logs, one file for each service. */
  readonly logDir: string;
  /** Starts the whole product with names of this place. At the end its databases, topics and keys are removed. */
  startProduct(
    options: Pick<ProductOptions, "environment" | "exclusions" | "registry"> & {
      readonly servers?: ProductOptions["servers"];
      readonly log?: (line: string) => void;
    },
  ): Promise<Product>;
}

export function ownPlace(): OwnPlace {
  const prefix = `t${randomBytes(4).toString("hex")}_`;
  const folder = join(projectRoot, ".cache", "test-product", prefix);
  const logDir = join(folder, "log");
  mkdirSync(logDir, { recursive: true });
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return {
    ...{ prefix, folder, logDir },
    async startProduct({ servers = testServers(), log = () => undefined, ...options }) {
      const product = await startProduct({
        ...options,
        ...{ servers, secrets: generateSecrets(), prefix, topicPrefix: `${prefix}.`, logDir, log },
        apiPort: await freePort(),
        dashboardPort: await freePort(),
        onCrash: (service, exit) => log(`${service} crashed: ${exit.signal ?? exit.code}`),
      });
      atEnd(async () => {
        await product.stop();
        await dropRun(product.environment, prefix);
      });
      return product;
    },
  };
}
