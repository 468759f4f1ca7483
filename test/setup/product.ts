import { join } from "node:path";
import { closeAll } from "@vvs/testing";
import { projectRoot } from "../../deploy/local/services.ts";
import { todaysExclusions } from "../support/exclusions-file.ts";
import { ownPlace } from "../support/own-place.ts";
import { fastClockVariables, type SharedProduct } from "../support/product.ts";
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
  const place = ownPlace();
  const { prefix, folder, logDir } = place;
  const spansFile = join(folder, "spans.jsonl");
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = await startOtlpReceiver(spansFile);
  process.env.OTEL_EXPORTER_OTLP_PROTOCOL = "http/json";
  process.env.OTEL_BSP_SCHEDULE_DELAY = "200";

  const product = await place.startProduct({
    registry: join(projectRoot, "test/fixtures/sam/registry.dat"),
    exclusions: todaysExclusions(folder),
    // Tests simulate one proxy in front; without its header, the connection's address counts.
    environment: { ...fastClockVariables(), LOG_LEVEL: "debug", TRUSTED_PROXY_HOPS: "1" },
    log: (line) => void process.stderr.write(`${line}\n`),
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
  globalThis.stopTestProduct = closeAll;
}
