import { join } from "node:path";
import { startHelper } from "../../support/helper-process.ts";
import type { RowBench } from "../benchmark.ts";

/** Starts express → grpc-js → findOne of the product's entities in two processes of their own. Returns the address. */
export async function startBareChain({ servers, prefix, onClose }: RowBench): Promise<string> {
  const entity = await startHelper({
    name: "bare-entity",
    script: join(import.meta.dirname, "bare-entity.ts"),
    environment: { MONGODB_URI: servers.mongodbUri, BARE_DATABASE: `${prefix}entity_live` },
  });
  onClose(() => entity.stop());
  const gateway = await startHelper({
    name: "bare-gateway",
    script: join(import.meta.dirname, "bare-gateway.ts"),
    environment: { BARE_ENTITY: `127.0.0.1:${entity.line}` },
  });
  onClose(() => gateway.stop());
  return gateway.line;
}
