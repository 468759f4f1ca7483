import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { startProduct } from "../../deploy/local/product.ts";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { dropRun } from "../support/clean-up.ts";
import { todaysExclusions } from "../support/exclusions-file.ts";
import { fastClockVariables, type SharedProduct } from "../support/product.ts";
import { testServers } from "../support/test-servers.ts";
import { startOtlpReceiver } from "./otlp-receiver.ts";
import setupServers from "./servers.ts";

declare global {
  var stopTestProduct: (() => Promise<void>) | undefined;
}

/**
 * Jest's globalSetup of the system tests. Starts the whole product once for all of them, with its own databases and
 * topics. Everything is logged and traced, so that tests can look for what must not be there.
 */
export default async function setup(): Promise<void> {
  await setupServers();
  const prefix = `t${randomBytes(4).toString("hex")}_`;
  const folder = join(projectRoot, ".cache", "test-product", prefix);
  const logDir = join(folder, "log");
  await mkdir(logDir, { recursive: true });
  const spansFile = join(folder, "spans.jsonl");
  const receiver = await startOtlpReceiver(spansFile);
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
  process.env.OTEL_EXPORTER_OTLP_PROTOCOL = "http/json";
  process.env.OTEL_BSP_SCHEDULE_DELAY = "200";

  const product = await startProduct({
    servers: testServers(),
    secrets: generateSecrets(),
    prefix,
    topicPrefix: `${prefix}.`,
    apiPort: await freePort(),
    dashboardPort: await freePort(),
    registry: join(projectRoot, "test/fixtures/sam/registry.dat"),
    exclusions: todaysExclusions(folder),
    // Tests simulate one proxy in front; without its header, the connection's address counts.
    environment: { ...fastClockVariables(), LOG_LEVEL: "debug", TRUSTED_PROXY_HOPS: "1" },
    logDir,
    log: (line) => process.stderr.write(`${line}\n`),
    onCrash: (service, exit) => process.stderr.write(`${service} crashed: ${exit.signal ?? exit.code}\n`),
  });
  for (const name of ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_BSP_SCHEDULE_DELAY"]) {
    delete process.env[name];
  }
  const shared: SharedProduct = {
    baseUrl: product.baseUrl,
    dashboardUrl: product.dashboardUrl,
    environment: product.environment,
    prefix,
    logDir,
    spansFile,
  };
  process.env.VVS_TEST_PRODUCT = JSON.stringify(shared);
  globalThis.stopTestProduct = async () => {
    await product.stop();
    receiver.close();
    await dropRun(product.environment, prefix);
    await rm(folder, { recursive: true, force: true });
  };
}
