import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "@jest/globals";
import { playServer, sendJson } from "../../../test/outside/played-server.ts";

/** What the collector received, by path. */
const received = new Map<string, string>();
const collector = await playServer(({ url, body }, response) => {
  received.set(url, (received.get(url) ?? "") + body);
  sendJson(response, 200, {});
});

const program = `
  import { trace } from "@opentelemetry/api";
  import { telemetry } from "@vvs/telemetry/register";
  const line = JSON.stringify({ time: "2026-11-21T09:30:00.000Z", level: "warn", service: "test", msg: "something odd", entity_id: "ent_1" });
  trace.getTracer("test").startActiveSpan("work", (span) => {
    telemetry.emitLine?.(line);
    span.end();
    console.log(span.spanContext().traceId);
  });
  await telemetry.shutdown();`;

/** Runs the program as services run; returns the id of its trace. */
async function run(environment: Record<string, string>): Promise<string> {
  received.clear();
  const args = ["--import", `${import.meta.dirname}/register.ts`, "--input-type=module", "--eval", program];
  const child = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      OTEL_SERVICE_NAME: "test",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  return output.trim();
}

test("metrics, log lines in their trace, and traces are sent where the variables ask for them", async () => {
  const traceId = await run({ OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" });
  expect([...received.keys()].toSorted()).toEqual(["/v1/logs", "/v1/metrics", "/v1/traces"]);
  for (const name of ["nodejs.eventloop.delay.p99", "nodejs.eventloop.utilization", "v8js.memory.heap.used"])
    expect(received.get("/v1/metrics")).toContain(`"${name}"`);
  const [record] = JSON.parse(received.get("/v1/logs")!).resourceLogs[0].scopeLogs[0].logRecords;
  expect(record).toMatchObject({ severityText: "warn", body: { stringValue: "something odd" }, traceId });
  expect(record.attributes).toEqual([{ key: "entity_id", value: { stringValue: "ent_1" } }]);
  expect(received.get("/v1/traces")).toContain(traceId);
});

test("only traces are sent by default, and none that the sampler leaves out", async () => {
  await run({});
  expect([...received.keys()]).toEqual(["/v1/traces"]);
  await run({ OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" });
  expect([...received.keys()]).toEqual([]);
});
