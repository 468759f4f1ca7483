import { afterEach, expect, test } from "@jest/globals";
import { runTestService, type TestService } from "./testing.ts";

const services: TestService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) {
    service.process.kill("SIGKILL");
    await service.exit;
  }
});

function run(body: string, environment?: Record<string, string>): TestService {
  const cache = process.env.NODE_COMPILE_CACHE;
  const service = runTestService(body, { ...(cache && { NODE_COMPILE_CACHE: cache }), ...environment });
  services.push(service);
  return service;
}

const messages = (service: TestService) => service.lines.map(({ msg }) => msg);

test("an invalid configuration is refused with all its problems together", async () => {
  const service = run("", { ADMIN_PORT: "-1", LOG_LEVEL: "loud", NUMBER: "many", WORD: "" });
  const { code, stderr } = await service.exit;
  expect(code).toBe(1);
  for (const name of ["ADMIN_PORT", "LOG_LEVEL", "NUMBER", "WORD"]) expect(stderr).toContain(`${name}: `);
  expect(stderr).toContain("WORD: is required");
  expect(stderr).not.toContain("many");
  expect(stderr).not.toContain("at ");
  expect(service.lines).toEqual([]);
});

test("a service is live while it starts, ready once started, and unready as soon as it receives a stop signal", async () => {
  const service = run(
    `const goOn = (text) => new Promise((resolve) => { process.once("SIGUSR2", resolve); logger.info(text); });
     onClose("held", () => goOn("held"));
     await goOn("waiting");`,
  );
  await service.logged("waiting");
  expect(await service.get("/livez")).toMatchObject({ status: 200 });
  expect(await service.get("/readyz")).toEqual({ status: 503, body: '{"status":"starting"}' });
  service.process.kill("SIGUSR2");
  await service.logged("ready");
  expect(await service.get("/readyz")).toEqual({ status: 200, body: '{"status":"ready"}' });
  service.process.kill("SIGTERM");
  await service.logged("stopping");
  expect(await service.get("/readyz")).toEqual({ status: 503, body: '{"status":"draining"}' });
  expect(await service.get("/livez")).toMatchObject({ status: 200 });
  await service.logged("held");
  service.process.kill("SIGUSR2");
  expect(await service.exit).toMatchObject({ code: 0 });
});

test("nothing is closed while load balancers may still send", async () => {
  const service = run(`onClose("server", () => logger.info("closed"));`, { DRAIN_SECONDS: "1" });
  await service.logged("ready");
  service.process.kill("SIGTERM");
  const { time: stoppingAt } = await service.logged("stopping");
  const { time: closedAt } = await service.logged("closed");
  expect(Date.parse(closedAt as string) - Date.parse(stoppingAt as string)).toBeGreaterThanOrEqual(990);
  expect(await service.exit).toMatchObject({ code: 0 });
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "on %s resources are closed in reverse order, one at a time, even if one fails",
  async (signal) => {
    const service = run(
      `onClose("first", () => logger.info("first closed"));
       onClose("second", async () => { throw new Error("won't close"); });
       onClose("third", async () => { await new Promise(setImmediate); logger.info("third closed"); });
       stopping.addEventListener("abort", () => logger.info("stop requested"));`,
    );
    await service.logged("ready");
    service.process.kill(signal);
    expect(await service.exit).toMatchObject({ code: 0, stderr: "" });
    expect(messages(service)).toEqual([
      "starting",
      "ready",
      "stopping",
      "stop requested",
      "third closed",
      "a resource could not be closed",
      "first closed",
      "stopped",
    ]);
    expect(service.lines[5]).toMatchObject({ level: "error", resource: "second", err: { message: "won't close" } });
  },
);

test("the last log lines before a service ends are all written, in order", async () => {
  const service = run(
    `const { pbkdf2 } = await import("node:crypto");
     for (let turn = 0; turn < 1000; turn++) await new Promise(setImmediate);
     for (let thread = 0; thread < 16; thread++) pbkdf2("busy", "threads", 3e5, 64, "sha512", () => undefined);
     logger.info("last but one");
     logger.info("last");
     process.exit(0);`,
  );
  await service.exit;
  expect(messages(service)).toEqual(["starting", "last but one", "last"]);
});

test("a second signal ends the service immediately", async () => {
  const service = run(`onClose("stuck", () => new Promise(() => undefined));`);
  await service.logged("ready");
  service.process.kill("SIGTERM");
  await service.logged("stopping");
  service.process.kill("SIGINT");
  expect(await service.exit).toMatchObject({ code: 1 });
});

test("work that does not finish in time is cut off", async () => {
  const service = run(`onClose("stuck", () => new Promise(() => undefined)); setInterval(() => {}, 1000);`, {
    FINISH_SECONDS: "1",
  });
  await service.logged("ready");
  service.process.kill("SIGTERM");
  expect(await service.exit).toMatchObject({ code: 1 });
  expect(service.lines.at(-1)).toMatchObject({ level: "error", msg: "some work did not finish in time" });
});

test("a service that receives a stop signal while it starts stops without having been ready", async () => {
  const service = run(
    `onClose("opened", () => logger.info("closed"));
     await new Promise((_, reject) => stopping.addEventListener("abort", () => reject(stopping.reason)));`,
    { DRAIN_SECONDS: "600" },
  );
  await service.logged("starting");
  service.process.kill("SIGTERM");
  expect(await service.exit).toMatchObject({ code: 0 });
  expect(messages(service)).toEqual(["starting", "stopping", "stopped before it had started", "closed", "stopped"]);
});

test("a service that hangs while it starts still ends in time", async () => {
  const service = run("setInterval(() => {}, 1000); await new Promise(() => undefined);", { FINISH_SECONDS: "1" });
  await service.logged("starting");
  service.process.kill("SIGTERM");
  expect(await service.exit).toMatchObject({ code: 1 });
});

test("a start that fails is logged and ends the service", async () => {
  const service = run(`throw new Error("no store", { cause: new Error("refused") });`);
  expect(await service.exit).toMatchObject({ code: 1 });
  expect(service.lines.at(-1)).toMatchObject({
    level: "fatal",
    msg: "the service could not start",
    err: { message: "no store", cause: { message: "refused" } },
  });
});

test("an admin port in use ends the service", async () => {
  const first = run("");
  const { admin_port } = await first.logged("starting");
  const second = run("", { ADMIN_PORT: String(admin_port) });
  expect(await second.exit).toMatchObject({ code: 1 });
  expect(second.lines.at(-1)).toMatchObject({ level: "fatal", err: { code: "EADDRINUSE" } });
});

test.each([
  ["an exception", `setTimeout(() => { throw new Error("nobody caught this"); });`],
  ["a rejection", `setTimeout(() => void Promise.reject(new Error("nobody caught this")));`],
])("%s that nothing catches is logged and ends the service", async (_what, body) => {
  const service = run(body);
  expect(await service.exit).toMatchObject({ code: 1 });
  expect(service.lines.at(-1)).toMatchObject({ level: "fatal", err: { message: "nobody caught this" } });
});

test("/metrics answers in Prometheus' text format, and other paths with 404", async () => {
  const service = run(
    `const { metrics } = await import("@opentelemetry/api");
     metrics.getMeter("test").createCounter("things", { description: "Things done." }).add(3, { kind: "a" });`,
  );
  await service.logged("ready");
  const { status, body } = await service.get("/metrics");
  expect(status).toBe(200);
  expect(body).toContain("# HELP things_total Things done.\n# TYPE things_total counter\n");
  expect(body).toMatch(/^things_total\{kind="a"\} 3$/m);
  expect(await service.get("/")).toMatchObject({ status: 404 });
});
