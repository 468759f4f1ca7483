import { expect, test } from "@jest/globals";
import { context, trace } from "@opentelemetry/api";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { ServiceError } from "@vvs/errors";
import { createLogger } from "./index.ts";

function capture(level = "info") {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    service: "entity",
    level,
    destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  return { logger, lines };
}

test("a line has its time, level and service", () => {
  const { logger, lines } = capture();
  logger.debug("below the level");
  logger.info({ entity_id: "ent_1" }, "created");
  expect(lines).toEqual([
    { time: expect.any(String), level: "info", service: "entity", entity_id: "ent_1", msg: "created" },
  ]);
  expect(new Date(lines[0]!.time as string).toISOString()).toBe(lines[0]!.time);
});

test("a line inside a span carries the trace's ids, a line outside has none", async () => {
  const done = async () => undefined;
  const processor = { onStart: () => undefined, onEnd: () => undefined, forceFlush: done, shutdown: done };
  const sdk = new NodeSDK({ metricReaders: [], logRecordProcessors: [], spanProcessors: [processor] });
  sdk.start();
  try {
    const { logger, lines } = capture();
    const span = trace.getTracer("test").startSpan("work");
    context.with(trace.setSpan(context.active(), span), () => logger.info("inside"));
    logger.info("outside");
    const { traceId, spanId } = span.spanContext();
    expect(lines[0]).toMatchObject({ msg: "inside", trace_id: traceId, span_id: spanId });
    expect(lines[1]).not.toHaveProperty("trace_id");
  } finally {
    await sdk.shutdown();
  }
});

test("an error is logged with the chain of its causes and their codes", () => {
  const { logger, lines } = capture();
  const root = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const both = new AggregateError([root, "just a text"], "no address answered");
  logger.error({ err: new ServiceError("service_unavailable", { cause: both }) }, "failed");
  expect(lines[0]!.err).toMatchObject({
    type: "ServiceError",
    code: "service_unavailable",
    stack: expect.stringContaining("index.test.ts"),
    cause: {
      message: "no address answered",
      errors: [{ message: "connect ECONNREFUSED", code: "ECONNREFUSED" }, { message: "just a text" }],
    },
  });
});

test("fields that a library attaches to an error are not logged", () => {
  const { logger, lines } = capture();
  logger.error({ err: Object.assign(new Error("refused"), { document: { tin: "123456789" }, config: { key: "s" } }) });
  expect(Object.keys(lines[0]!.err as object).sort()).toEqual(["message", "stack", "type"]);
});

test("an error that is its own cause is logged once", () => {
  const { logger, lines } = capture();
  const error = new Error("round");
  error.cause = error;
  logger.error({ err: error });
  expect(JSON.stringify(lines[0]).match(/"message":"round"/g)!.length).toBeLessThan(10);
});
