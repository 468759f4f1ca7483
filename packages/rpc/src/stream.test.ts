import { afterEach, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { eventually } from "@vvs/testing";
import { testRpc } from "./testing.ts";

const { serve, client, lines, close } = testRpc();
afterEach(async () => {
  await close();
  lines.length = 0;
});

async function* numbers(to: number) {
  for (let number = 1; number <= to; number++) yield { value: String(number) };
}

/** Reads all messages; returns them with the error that ended the stream. */
async function drain(stream: AsyncIterable<{ value: string }>) {
  const values: string[] = [];
  try {
    for await (const { value } of stream) values.push(value);
    return { values, error: undefined };
  } catch (error) {
    return { values, error };
  }
}

test("a stream arrives complete and in order", async () => {
  const server = await serve({ count: () => numbers(1000) });
  const { values, error } = await drain(client(server).count({}));
  expect(error).toBeUndefined();
  expect(values).toEqual(Array.from({ length: 1000 }, (_, index) => String(index + 1)));
});

test("an error that ends a stream arrives complete, after the earlier messages", async () => {
  const server = await serve({
    async *count() {
      yield* numbers(100);
      throw new ServiceError("rate_limited", { message: "Slower.", retryAfterSeconds: 3 });
    },
  });
  const { values, error } = await drain(client(server).count({}));
  expect(values).toHaveLength(100);
  expect(error).toMatchObject({ code: "rate_limited", message: "Slower.", retryAfterSeconds: 3 });
});

test("a caller that is not allowed gets no message", async () => {
  const server = await serve({ count: () => numbers(1) });
  const { values, error } = await drain(client(server, { caller: "monitor" }).count({}));
  expect(values).toEqual([]);
  expect(error).toMatchObject({ code: "forbidden" });
});

test("a slow consumer slows the handler down", async () => {
  const kilobytes = "x".repeat(64 * 1024);
  const total = 400;
  let made = 0;
  const server = await serve({
    async *count() {
      for (; made < total; made++) yield { value: kilobytes };
    },
  });
  const stream = client(server).count({})[Symbol.asyncIterator]();
  await stream.next();
  let before = -1;
  await eventually(async () => {
    const still = made === before;
    before = made;
    if (!still) await new Promise((resolve) => setTimeout(resolve, 100));
    return still;
  });
  expect(made).toBeLessThan(total / 2);
  let taken = 1;
  while (!(await stream.next()).done) taken++;
  expect(taken).toBe(total);
});

test("leaving the loop cancels the handler, even between two messages, and causes no other error", async () => {
  let ended = false;
  const server = await serve({
    async *count(_request, { signal }) {
      try {
        yield { value: "1" };
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      } finally {
        ended = true;
      }
    },
  });
  for await (const _ of client(server).count({})) break;
  await eventually(() => ended && lines.length > 0);
  expect(lines).toMatchObject([{ level: "debug", code: "CANCELLED" }]);
});

test("leaving the loop cancels a handler that waits because of back pressure", async () => {
  let ended = false;
  const server = await serve({
    async *count() {
      try {
        for (;;) yield { value: "x".repeat(64 * 1024) };
      } finally {
        ended = true;
      }
    },
  });
  for await (const _ of client(server).count({})) break;
  await eventually(() => ended);
});

test("a signal ends a stream on both sides", async () => {
  let ended = false;
  const hangUp = new AbortController();
  const server = await serve({
    async *count(_request, { signal }) {
      yield { value: "1" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      ended = true;
    },
  });
  const stream = client(server).count({}, { signal: hangUp.signal });
  const { error } = await drain(
    (async function* () {
      for await (const message of stream) {
        yield message;
        hangUp.abort();
      }
    })(),
  );
  expect(error).toMatchObject({ code: "service_unavailable" });
  await eventually(() => ended);
});

test("a stream ends at its deadline, if it has one", async () => {
  const server = await serve({
    async *count(_request, { signal }) {
      yield { value: "1" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
  });
  const { error } = await drain(client(server).count({}, { timeoutMs: 300 }));
  expect(error).toMatchObject({ code: "service_unavailable" });
});

test("close() ends streams that are still open after the grace period", async () => {
  let aborted = false;
  const server = await serve({
    async *count(_request, { signal }) {
      yield { value: "1" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      aborted = true;
    },
  });
  const stream = client(server).count({})[Symbol.asyncIterator]();
  await stream.next();
  await server.close(50);
  await expect(stream.next()).rejects.toMatchObject({ code: "service_unavailable" });
  await eventually(() => aborted);
});
