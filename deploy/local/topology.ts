import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "@vvs/config";

const store = z.enum(["mongodb", "kafka", "redis"]);
const secret = z.enum([
  "API_KEY_PEPPERS",
  "IDEMPOTENCY_KEYS",
  "RECEIPT_KEYS",
  "TIN_KEYS",
  "TIN_HASH_KEYS",
  "WEBHOOK_SECRET_KEYS",
]);

const service = z.strictObject({
  /** Port of its gRPC server, in a cluster. */
  rpcPort: z.number().optional(),
  /** Port of its public HTTP server. */
  httpPort: z.number().optional(),
  /** The variable that gives callers the address of its gRPC server. */
  addressVariable: z.string().optional(),
  /** The services that it calls. */
  calls: z.array(z.string()).default([]),
  /** The stores that it connects to; only listed services may. */
  stores: z.array(store).default([]),
  /** The secrets that it may hold; only services that list a secret may. */
  secrets: z.array(secret).default([]),
  /** Those that it may hold but can run without: in the chart they are in its `secretVariables`. */
  optionalSecrets: z.array(secret).default([]),
  /** The topics that it consumes, without their environment. */
  consumes: z.array(z.string()).default([]),
  /** Consumer groups of consumed topics, without their environment; the group of the others is the service's name. */
  groups: z.record(z.string(), z.string()).default({}),
  /** Whether it connects to public addresses. */
  internet: z.boolean().default(false),
});

export type ServiceTopology = z.infer<typeof service>;

const file = join(fileURLToPath(import.meta.url), "../../services.json");

/**
 * All services with their calls and stores, from services.json, which the local run and the chart read too. Services
 * that others call come first.
 */
export const topology: Readonly<Record<string, ServiceTopology>> = z
  .record(z.string(), service)
  .parse(JSON.parse(readFileSync(file, "utf8")));
