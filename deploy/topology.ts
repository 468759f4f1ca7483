import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "@vvs/config";

const store = z.enum(["mongodb", "kafka", "redis"]);
const secret = z.enum(["API_KEY_PEPPERS", "IDEMPOTENCY_KEYS", "TIN_KEYS", "TIN_HASH_KEYS", "WEBHOOK_SECRET_KEYS"]);

const service = z.strictObject({
  /** Port of its gRPC server, in a cluster. */
  rpcPort: z.number().optional(),
  /** Port of what people or API clients reach. */
  httpPort: z.number().optional(),
  /** The variable by which others find its gRPC server. */
  addressVariable: z.string().optional(),
  /** The services that it calls. */
  calls: z.array(z.string()).default([]),
  /** The stores that it reaches; no other service may. */
  stores: z.array(store).default([]),
  /** The secrets that it alone, or with the others that list them, may hold. */
  secrets: z.array(secret).default([]),
  /** The topics whose records it takes, without their environment. */
  consumes: z.array(z.string()).default([]),
  /** Connects to public addresses. */
  internet: z.boolean().default(false),
});

export type ServiceTopology = z.infer<typeof service>;

const file = join(fileURLToPath(import.meta.url), "../services.json");

/**
 * Which services there are, who calls whom and who owns which store: services.json, which the local run and the chart
 * read, those that others call first.
 */
export const topology: Readonly<Record<string, ServiceTopology>> = z
  .record(z.string(), service)
  .parse(JSON.parse(readFileSync(file, "utf8")));
