import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { silentLogger as logger, untilEnd } from "@vvs/testing";
import { playServer, sendJson } from "../../../test/outside/played-server.ts";
import { serveFakeAccount, serveFakes } from "./testing/fake-services.ts";
import { until } from "./testing/gateway.ts";
import { entity, entityId } from "./testing/samples.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const pepper = { id: "p1", key: randomBytes(32) };
const secret = () => `k1:${randomBytes(32).toString("base64")}`;

const account = await serveFakeAccount([pepper], logger);
const services = await serveFakes(logger);
for (const one of [account, ...Object.values(services)]) untilEnd(one);
/** Receives what OpenTelemetry exports. */
const collector = await playServer((_call, response) => sendJson(response, 200, {}));

/** Starts the real gateway in its own process. */
async function startProcess() {
  const gateway = spawn(
    process.execPath,
    ["--import", `${root}packages/telemetry/src/register.ts`, `${root}services/gateway/src/main.ts`],
    {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        OTEL_SERVICE_NAME: "gateway",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: "50",
        ADMIN_HOST: "127.0.0.1",
        ADMIN_PORT: "0",
        HTTP_PORT: "0",
        DRAIN_SECONDS: "0",
        PUBLIC_BASE_URL: "https://api.example.test/",
        REDIS_URL: process.env.REDIS_URL,
        API_KEY_PEPPERS: `${pepper.id}:${pepper.key.toString("base64")}`,
        IDEMPOTENCY_KEYS: secret(),
        ACCOUNT_ADDRESS: `127.0.0.1:${account.port}`,
        ENTITY_ADDRESS: `127.0.0.1:${services.entity.port}`,
        VERIFICATION_ADDRESS: `127.0.0.1:${services.verification.port}`,
        MONITOR_ADDRESS: `127.0.0.1:${services.monitor.port}`,
      },
    },
  );
  let output = "";
  for (const stream of [gateway.stdout, gateway.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const lines = () =>
    output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  await until(() => lines().some(({ msg }) => msg === "ready"));
  return {
    baseUrl: `http://127.0.0.1:${lines().find(({ msg }) => msg === "serving").port}`,
    output: () => output,
    lines,
    async stop() {
      const exited = once(gateway, "exit");
      gateway.kill("SIGTERM");
      const [code] = await exited;
      return code;
    },
  };
}

describe("the gateway as a process", () => {
  test("answers, logs one line per request, and keeps text from clients out of logs and traces", async () => {
    const gateway = await startProcess();
    const { value, record } = account.createKey();
    services.entity.on("lookUp", () => ({ entity }));
    services.entity.on("getEntity", () => ({ entity }));

    const tin = "987-65-4321";
    const headers = {
      Authorization: `Bearer ${value}`,
      "Content-Type": "application/json",
      "User-Agent": `agent ${tin}`,
      "X-Request-Id": `order ${tin}`,
      "X-Forwarded-For": tin,
      Forwarded: `for="${tin}"`,
    };
    const send = (path: string, init: RequestInit = {}) => fetch(gateway.baseUrl + path, { headers, ...init });
    const body = JSON.stringify({ identifiers: { tin }, legal_name: `Acme ${tin}` });
    const answers = [
      await send("/v1/entities/lookup", { method: "POST", body }),
      await send(`/v1/entities/lookup?${tin}=${tin}`, { method: "POST", body }),
      await send(`/v1/entities/${tin}?tin=${tin}`),
      await send(`/${tin}?tin=${tin}`),
      await send(`/v1/entities/${tin}`, { method: "PUT" }),
      await send(`/v1/entities/${tin}`, { headers: { ...headers, Authorization: `Bearer ${tin}` } }),
      await send(`/v1/entities/${entityId}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 404, 405, 401, 200]);
    for (const answer of answers) {
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
      expect(await answer.text()).not.toContain("4321".padStart(9, "98765"));
    }
    expect(await gateway.stop()).toBe(0);

    const requests = gateway.lines().filter(({ msg }) => msg === "request");
    expect(requests.map(({ method, route, status }) => [method, route, status])).toEqual([
      ["POST", "/v1/entities/lookup", 200],
      ["POST", "/v1/entities/lookup", 400],
      ["GET", "/v1/entities/:id", 400],
      ["GET", "unmatched", 404],
      ["PUT", "/v1/entities/:id", 405],
      ["GET", "/v1/entities/:id", 401],
      ["GET", "/v1/entities/:id", 200],
    ]);
    expect(requests.at(-1)).toMatchObject({
      key_id: record.id,
      organization_id: record.tenant!.organizationId,
      environment: "live",
      request_id: answers.at(-1)!.headers.get("x-request-id"),
      trace_id: expect.any(String),
    });

    const traces = collector.calls.map(({ body }) => body).join("\n");
    expect(traces).toContain("GET /v1/entities/:id");
    expect(traces).toContain("vvs.entity.v1.EntityService/LookUp");
    for (const text of [traces, gateway.output()]) {
      expect(text).not.toContain("987-65");
      expect(text).not.toContain("987654321");
      expect(text).not.toContain(value);
    }
  });

  test("on SIGTERM finishes running requests, accepts no new ones, and does not wait for idle connections", async () => {
    const gateway = await startProcess();
    const { value } = account.createKey();
    const received = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    services.entity.on("getEntity", async () => {
      received.resolve();
      await answered.promise;
      return { entity };
    });
    const running = fetch(`${gateway.baseUrl}/v1/entities/${entityId}`, {
      headers: { Authorization: `Bearer ${value}` },
    });
    await received.promise;
    const silent = connect(Number(new URL(gateway.baseUrl).port), "127.0.0.1");
    await once(silent, "connect");
    const stopped = gateway.stop();
    await until(() => gateway.lines().some(({ msg }) => msg === "stopping"));
    await until(() =>
      fetch(`${gateway.baseUrl}/v1/health`).then(
        () => false,
        () => true,
      ),
    );
    answered.resolve();
    expect((await running).status).toBe(200);
    expect(await stopped).toBe(0);
  });
});
