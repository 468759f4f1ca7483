import { afterAll, afterEach, expect, test } from "@jest/globals";
import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { ServiceError } from "@vvs/errors";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { eventually } from "@vvs/testing";

const { spans, metric, shutdown } = recordTelemetry();
// Telemetry starts before anything else is imported, as in a service.
const { testRpc } = await import("./testing.ts");

const { serve, client, lines, close } = testRpc();
afterEach(async () => {
  await close();
  spans.length = 0;
  lines.length = 0;
});
afterAll(shutdown);

test("one trace crosses from the caller's span through the call into the handler, its own calls and its logs", async () => {
  const inner = await serve({ ask: async () => ({ value: "inner" }) });
  const innerClient = client(inner);
  const outer = await serve({ ask: (request) => innerClient.ask(request) });
  const outerClient = client(outer);
  const root = await trace.getTracer("test").startActiveSpan("root", async (span) => {
    await outerClient.ask({});
    span.end();
    return span;
  });
  await eventually(() => spans.length === 5);
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const innermost = spans.find(({ kind, parentSpanContext }) => {
    const parent = byId.get(parentSpanContext?.spanId ?? "");
    return kind === SpanKind.SERVER && byId.get(parent?.parentSpanContext?.spanId ?? "")?.kind === SpanKind.SERVER;
  });
  const path: SpanKind[] = [];
  for (let span = innermost; span; span = byId.get(span.parentSpanContext?.spanId ?? "")) path.push(span.kind);
  expect(path).toEqual([SpanKind.SERVER, SpanKind.CLIENT, SpanKind.SERVER, SpanKind.CLIENT, SpanKind.INTERNAL]);
  const { traceId } = root.spanContext();
  expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
  expect(lines.map(({ trace_id }) => trace_id)).toEqual([traceId, traceId]);
});

test("spans and durations have the standard names, and only server faults mark the server's span as failed", async () => {
  const server = await serve({
    ask: ({ value }) => Promise.reject(new ServiceError(value === "fault" ? "internal_error" : "entity_not_found")),
  });
  const caller = client(server);
  await expect(caller.ask({ value: "refuse" })).rejects.toMatchObject({ code: "entity_not_found" });
  await expect(caller.ask({ value: "fault" })).rejects.toMatchObject({ code: "internal_error" });
  await eventually(() => spans.length === 4);
  const of = (kind: SpanKind, status: string) =>
    spans.find((span) => span.kind === kind && span.attributes["rpc.status_code"] === status)!;
  expect(of(SpanKind.SERVER, "NOT_FOUND")).toMatchObject({
    name: "test.v1.TextService/Ask",
    attributes: { "rpc.system.name": "grpc", "rpc.method": "test.v1.TextService/Ask" },
    status: { code: SpanStatusCode.UNSET },
  });
  expect(of(SpanKind.SERVER, "INTERNAL").status.code).toBe(SpanStatusCode.ERROR);
  expect(of(SpanKind.CLIENT, "NOT_FOUND").status.code).toBe(SpanStatusCode.ERROR);

  for (const side of ["server", "client"]) {
    const durations = (await metric(`rpc.${side}.call.duration`))!;
    expect(durations.descriptor.unit).toBe("s");
    expect(durations.dataPoints.map(({ attributes }) => attributes["rpc.status_code"])).toEqual(
      expect.arrayContaining(["NOT_FOUND", "INTERNAL"]),
    );
  }
});

test("a call that looks for its server several times is one span", async () => {
  const server = await serve({});
  await server.close();
  await expect(client(server).ask({}, { timeoutMs: 500 })).rejects.toMatchObject({ code: "service_unavailable" });
  await eventually(() => spans.length > 0);
  expect(spans.map(({ kind, attributes }) => [kind, attributes["rpc.status_code"]])).toEqual([
    [SpanKind.CLIENT, "UNAVAILABLE"],
  ]);
});

test("a consumer that leaves a stream ends both spans", async () => {
  const server = await serve({
    async *count(_request, { signal }) {
      yield { value: "1" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
  });
  for await (const _ of client(server).count({})) break;
  await eventually(() => spans.length === 2);
  const status = (kind: SpanKind) => spans.find((span) => span.kind === kind)!.attributes["rpc.status_code"];
  expect([status(SpanKind.SERVER), status(SpanKind.CLIENT)]).toEqual(["CANCELLED", "OK"]);
});

test("health checks leave no spans", async () => {
  const { Health } = await import("@vvs/proto/grpc/health/v1/health");
  const { credentials, Client } = await import("@grpc/grpc-js");
  const { serviceDefinition } = await import("./definition.ts");
  const server = await serve({});
  const channel = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  const { check } = serviceDefinition(Health);
  const { create } = await import("@bufbuild/protobuf");
  await new Promise<void>((resolve, reject) =>
    channel.makeUnaryRequest(
      check!.path,
      check!.requestSerialize,
      check!.responseDeserialize,
      create(Health.method.check.input),
      (error) => (error ? reject(error) : resolve()),
    ),
  );
  channel.close();
  expect(spans).toEqual([]);
});
