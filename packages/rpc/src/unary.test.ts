import { logVerbosity, setLogVerbosity, status } from "@grpc/grpc-js";
import { afterEach, expect, test } from "@jest/globals";
import { isOutcomeUnknown, outcomeUnknown, ServiceError } from "@vvs/errors";
import { createAdmission } from "@vvs/fair-queue";
import { eventually } from "@vvs/testing";
import { createClient } from "./client.ts";
import { servicePart } from "./handlers.ts";
import { otherService, testRpc } from "./testing.ts";

const { serve, client, lines, close } = testRpc();
afterEach(async () => {
  await close();
  lines.length = 0;
});

const errorOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);
const hangsUntilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true }),
  );

test("a call reaches its handler with request and caller, and its reply comes back", async () => {
  const server = await serve({ ask: async (request, { caller }) => ({ value: `${request.value} by ${caller}` }) });
  await expect(client(server).ask({ value: "asked" })).resolves.toMatchObject({ value: "asked by gateway" });
  expect(lines).toMatchObject([{ level: "debug", rpc: "test.v1.TextService/Ask", caller: "gateway", code: "OK" }]);
});

test("a server has several services, each with its own list of allowed callers", async () => {
  const beside = servicePart({
    service: otherService,
    handlers: { ask: async ({ value }) => ({ value: `other ${value}` }) },
    callers: { ask: ["dashboard"] },
  });
  const server = await serve({ ask: async ({ value }) => ({ value: `first ${value}` }) }, { beside: [beside] });
  const address = `127.0.0.1:${server.port}`;
  const [gateway, dashboard] = ["gateway", "dashboard"].map((caller) =>
    createClient(otherService, { address, caller, tls: undefined }),
  );
  await expect(client(server).ask({ value: "asked" })).resolves.toMatchObject({ value: "first asked" });
  await expect(dashboard!.ask({ value: "asked" })).resolves.toMatchObject({ value: "other asked" });
  await expect(gateway!.ask({})).rejects.toMatchObject({ code: "forbidden" });
  for (const each of [gateway!, dashboard!]) each.close();
});

test("a refusal arrives complete, without its cause", async () => {
  const refusal = new ServiceError("ambiguous_match", {
    message: "Two entities match: ACME Café 🏭.",
    details: [{ path: "checks[1]", message: "must be one of tin_match" }],
    entityId: "ent_1",
    candidates: [
      {
        id: "ent_2",
        legalName: "ACME",
        confidence: 0.75,
        explanation: [{ criterion: "name", outcome: "agrees", weight: 0.5, detail: "one typing error" }],
      },
      { id: "ent_3", legalName: "ACNE", confidence: 0.5, explanation: [] },
    ],
    retryAfterSeconds: 1.2,
    cause: new Error("internal"),
  });
  const server = await serve({ ask: () => Promise.reject(refusal) });
  const received = await client(server)
    .ask({})
    .catch((error: unknown) => error);
  expect(received).toBeInstanceOf(ServiceError);
  expect(received).toMatchObject({
    code: refusal.code,
    message: refusal.message,
    details: refusal.details,
    entityId: "ent_1",
    candidates: refusal.candidates,
    retryAfterSeconds: 2,
  });
  expect(lines).toMatchObject([{ level: "info", error: "ambiguous_match", code: "FAILED_PRECONDITION" }]);
});

test("a refusal as large as an explained look-up of ten candidates arrives complete", async () => {
  const explanation = Array.from({ length: 10 }, (_, index) => ({
    criterion: `criterion ${index}`,
    outcome: "agrees",
    weight: 0.1,
    detail: "x".repeat(100),
  }));
  const candidates = Array.from({ length: 10 }, (_, index) => ({
    id: `ent_${index}`,
    legalName: "y".repeat(120),
    confidence: 0.5,
    explanation,
  }));
  const server = await serve({ ask: () => Promise.reject(new ServiceError("ambiguous_match", { candidates })) });
  await expect(client(server).ask({})).rejects.toMatchObject({ code: "ambiguous_match", candidates });
});

test("an unknown outcome arrives as such", async () => {
  const server = await serve({ ask: () => Promise.reject(outcomeUnknown(new Error("no answer"))) });
  const received = await errorOf(client(server).ask({}));
  expect(isOutcomeUnknown(received)).toBe(true);
  expect(received).toMatchObject({ message: outcomeUnknown(undefined).message });
});

test("a call that gets no answer in time has an unknown outcome, unless it only reads", async () => {
  const hangs = (_request: unknown, { signal }: { signal: AbortSignal }) => hangsUntilAborted(signal);
  const caller = client(await serve({ ask: hangs, getText: hangs }));
  const [asked, read] = await Promise.all([
    errorOf(caller.ask({}, { timeoutMs: 300 })),
    errorOf(caller.getText({}, { timeoutMs: 300 })),
  ]);
  expect(asked).toMatchObject({ code: "service_unavailable", outcomeUnknown: true });
  expect(read).toMatchObject({ code: "service_unavailable", outcomeUnknown: false });
});

test("a call has an unknown outcome if its server ends during it, and no effect if no server was reached", async () => {
  const server = await serve({
    ask: () => {
      void server.close(0);
      return new Promise<never>(() => undefined);
    },
  });
  const caller = client(server);
  expect(isOutcomeUnknown(await errorOf(caller.ask({})))).toBe(true);
  await eventually(async () => {
    const error = await errorOf(caller.ask({}));
    return error instanceof ServiceError && error.code === "service_unavailable" && !isOutcomeUnknown(error);
  });
});

test("a refusal with invalid Unicode still arrives", async () => {
  const server = await serve({ ask: () => Promise.reject(new ServiceError("forbidden", { message: "half \ud83c" })) });
  await expect(client(server).ask({})).rejects.toMatchObject({ code: "forbidden", message: "half \ufffd" });
});

test("an unknown error is withheld from the caller and logged with its cause", async () => {
  const error = new Error("password in text", { cause: new Error("root") });
  const server = await serve({ ask: () => Promise.reject(error) });
  const received = await client(server)
    .ask({})
    .catch((caught: unknown) => caught);
  expect(received).toMatchObject({ code: "internal_error", message: new ServiceError("internal_error").message });
  expect(JSON.stringify(received)).not.toContain("password");
  expect(lines).toMatchObject([
    {
      level: "error",
      rpc: "test.v1.TextService/Ask",
      err: { message: "password in text", cause: { message: "root" } },
    },
  ]);
});

test("a store's error is translated by the service", async () => {
  const translate = (error: unknown) => new ServiceError("service_unavailable", { retryAfterSeconds: 5, cause: error });
  const server = await serve({ ask: () => Promise.reject(new Error("unavailable")) }, { translate });
  await expect(client(server).ask({})).rejects.toMatchObject({ code: "service_unavailable", retryAfterSeconds: 5 });
  expect(lines).toMatchObject([{ level: "error", err: { message: "unavailable" } }]);
});

test("a reply that can't be encoded is logged as an error of the service", async () => {
  const server = await serve({ ask: async () => ({ value: Object.create(null) as string }) });
  await expect(client(server).ask({})).rejects.toMatchObject({ code: "internal_error" });
  expect(lines).toMatchObject([{ level: "error", msg: "a call failed" }]);
});

test("a caller that is not allowed, or has no name, is refused before the handler runs", async () => {
  let ran = false;
  const server = await serve({
    ask: async () => {
      ran = true;
      return {};
    },
  });
  await expect(client(server, { caller: "dashboard" }).ask({})).rejects.toMatchObject({ code: "forbidden" });
  await expect(client(server, { caller: "" }).ask({})).rejects.toMatchObject({ code: "forbidden" });
  expect(ran).toBe(false);
  expect(lines).toMatchObject([
    { level: "warn", caller: "dashboard" },
    { level: "warn", caller: "" },
  ]);
});

test.each(["0.0.0.0", "::", "10.0.0.1", "entity.example"])("plaintext is not served on %s", async (host) => {
  await expect(serve({}, { host })).rejects.toThrow("loopback only");
});

test.each(["entity:50052", "10.0.0.1:50052", "[2001:db8::1]:50052", "127.0.0.1.example:1", "dns://x/127.0.0.1:1"])(
  "plaintext is not sent to %s",
  (address) => {
    expect(() => client({ port: 0 }, { address })).toThrow("loopback only");
  },
);

test.each(["127.0.0.1", "localhost", "::1"])("plaintext is served and reached on %s", async (host) => {
  const server = await serve({ ask: async () => ({ value: "here" }) }, { host });
  const address = `${host === "::1" ? "[::1]" : host}:${server.port}`;
  await expect(client(server, { address }).ask({})).resolves.toMatchObject({ value: "here" });
});

test("a call made by a handler inherits the handler's deadline, even if its own is longer", async () => {
  const inner = await serve({ ask: (_request, { signal }) => hangsUntilAborted(signal) });
  const innerClient = client(inner);
  let reported: Error | undefined;
  const outer = await serve({
    ask: (request) =>
      innerClient.ask(request, { timeoutMs: 600_000 }).catch((error: Error) => {
        reported = error;
        throw error;
      }),
  });
  const outerClient = client(outer);
  // So that opening the connections takes none of the call's time.
  await Promise.all([outerClient.isServing(), innerClient.isServing()]);
  await expect(outerClient.ask({}, { timeoutMs: 500 })).rejects.toMatchObject({ code: "service_unavailable" });
  await eventually(() => reported !== undefined);
  expect(reported!.cause).toMatchObject({ code: status.DEADLINE_EXCEEDED });
});

test("no call is made after the handler's deadline", async () => {
  const inner = await serve({});
  const innerClient = client(inner);
  const outer = await serve({
    async ask(request, { signal }) {
      await hangsUntilAborted(signal).catch(() => undefined);
      return innerClient.ask(request);
    },
  });
  const outerClient = client(outer);
  await outerClient.isServing();
  await expect(outerClient.ask({}, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "service_unavailable" });
  await eventually(() => lines.length > 0);
  expect(lines).toMatchObject([{ level: "info", msg: "the caller did not wait", code: "CANCELLED" }]);
});

test("a client that hangs up cancels the handler's signal", async () => {
  let started = () => {};
  const running = new Promise<void>((resolve) => (started = resolve));
  const server = await serve({
    ask(_request, { signal }) {
      started();
      return hangsUntilAborted(signal);
    },
  });
  const hangUp = new AbortController();
  const answer = client(server).ask({}, { signal: hangUp.signal });
  await running;
  hangUp.abort();
  await expect(answer).rejects.toMatchObject({ code: "service_unavailable" });
  await eventually(() => lines.some(({ msg }) => msg === "the caller did not wait"));
});

test("the signal of a call that was answered does not abort when its stream closes", async () => {
  const closed = Promise.withResolvers<AbortSignal>();
  const server = await serve({
    async ask(_request, { signal }) {
      queueMicrotask(() => closed.resolve(signal));
      return {};
    },
  });
  await client(server).ask({ value: "first" });
  const signal = await closed.promise;
  // On one connection, the next answer comes after the first stream has closed.
  await client(server).ask({ value: "second" });
  expect(signal.aborted).toBe(false);
});

test("a call with an aborted signal fails", async () => {
  const server = await serve({});
  const call = client(server).ask({}, { signal: AbortSignal.abort() });
  await expect(call).rejects.toMatchObject({ code: "service_unavailable" });
});

test("a server that stays unreachable is service_unavailable", async () => {
  const server = await serve({});
  await server.close();
  await expect(client(server).ask({})).rejects.toMatchObject({ code: "service_unavailable", retryAfterSeconds: 1 });
});

test("an existing client reconnects to a server that comes back on its port", async () => {
  const first = await serve({ ask: async () => ({ value: "first" }) });
  const caller = client(first);
  await caller.ask({});
  await first.close();
  await expect(caller.ask({})).rejects.toMatchObject({ code: "service_unavailable" });
  await serve({ ask: async () => ({ value: "second" }) }, { port: first.port });
  const backAt = performance.now();
  await eventually(() =>
    caller.ask({}).then(
      ({ value }) => value === "second",
      () => false,
    ),
  );
  // The longest pause between two attempts is one second plus 20 % jitter.
  expect(performance.now() - backAt).toBeLessThan(5_000);
});

test("close() lets running calls finish and refuses new ones", async () => {
  let started = () => {};
  let finish = () => {};
  const running = new Promise<void>((resolve) => (started = resolve));
  const server = await serve({
    async ask() {
      started();
      await new Promise<void>((resolve) => (finish = resolve));
      return { value: "finished" };
    },
  });
  const caller = client(server);
  const answer = caller.ask({});
  await running;
  const closed = server.close();
  await expect(client(server).ask({})).rejects.toMatchObject({ code: "service_unavailable" });
  finish();
  await expect(answer).resolves.toMatchObject({ value: "finished" });
  await closed;
});

test("a port in use is an error", async () => {
  const server = await serve({});
  setLogVerbosity(logVerbosity.NONE); // grpc-js would print it as well
  await expect(serve({}, { port: server.port })).rejects.toThrow("EADDRINUSE");
});

test("of an RPC with a bound, no more calls of an organization begin, though seats are free", async () => {
  const held = Promise.withResolvers<void>();
  let begun = 0;
  const ask = async () => {
    begun++;
    await held.promise;
    return {};
  };
  const server = await serve({ ask }, { admit: createAdmission({ seats: 8 }), maxBegun: { ask: 2 } });
  const calls = [1, 2, 3].map(() => client(server).ask({}));
  await eventually(() => begun === 2);
  held.resolve();
  await Promise.all(calls);
  expect(begun).toBe(3);
});
