import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { playServer, sendJson } from "../../../test/outside/played-server.ts";

interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
}

const spans: Span[] = [];
const collector = await playServer(({ body }, response) => {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
  sendJson(response, 200, {});
});

/** Runs a program in the way services run; returns the JSON that it prints. */
async function run(program: string, environment: Record<string, string>): Promise<Record<string, unknown>> {
  const folder = dirname(fileURLToPath(import.meta.url));
  const args = ["--import", join(folder, "register.ts"), "--input-type=module", "--eval", program];
  const env = {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    MONGODB_URI: process.env.MONGODB_URI!,
    OTEL_SERVICE_NAME: "test",
    ...environment,
  };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let problems = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (problems += chunk));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, problems }).toEqual({ code: 0, problems: "" });
  return JSON.parse(output) as Record<string, unknown>;
}

const askThreePaths = `
  import { createServer } from "node:http";
  import { trace } from "@opentelemetry/api";
  import { MongoClient } from "mongodb";
  import { telemetry } from "@vvs/telemetry/register";
  const mongo = new MongoClient(process.env.MONGODB_URI);
  const inHandlers = {};
  const server = createServer(async (request, response) => {
    inHandlers[request.url] = trace.getActiveSpan()?.spanContext().traceId;
    if (request.url === "/metrics") return telemetry.handleMetrics(request, response);
    await mongo.db("admin").command({ ping: 1 });
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = "http://127.0.0.1:" + server.address().port;
  for (const path of ["/livez", "/readyz", "/v1/entities"]) await (await fetch(url + path)).text();
  const metrics = await (await fetch(url + "/metrics")).text();
  server.close();
  server.closeAllConnections();
  await mongo.close();
  await telemetry.shutdown();
  console.log(JSON.stringify({ inHandlers, metrics }));`;

test("requests and MongoDB commands are traced and exported, but not those of the admin paths", async () => {
  const { inHandlers } = await run(askThreePaths, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  });
  const servers = spans.filter(({ kind }) => kind === 2);
  expect(servers).toHaveLength(1);
  const [served] = servers;
  expect(served!.attributes).toContainEqual({ key: "url.path", value: { stringValue: "/v1/entities" } });
  expect(inHandlers).toEqual({ "/v1/entities": served!.traceId });
  const commands = spans.filter(({ attributes }) => attributes.some(({ key }) => key.startsWith("db.")));
  expect(commands).toMatchObject([{ parentSpanId: served!.spanId, traceId: served!.traceId }]);
  // Only requests are traced, not the exporter's own calls or the driver's.
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([served!.traceId]));
});

test("without a collector, spans exist only for the ids in the logs, and metrics are recorded", async () => {
  const { inHandlers, metrics } = await run(askThreePaths, {});
  expect(inHandlers).toEqual({ "/v1/entities": expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(metrics).toContain("# TYPE http_server_request_duration histogram");
});
