import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { listening } from "@vvs/testing";
import express from "express";
import { compressAnswers } from "./compression.ts";
import { sendCsv } from "./csv.ts";

/** Serves these chunks as a file; returns its address and the errors. */
async function serve(chunks: () => AsyncIterable<string[][]>) {
  const app = express().use(compressAnswers());
  const errors: unknown[] = [];
  app.get("/file", (_request, response) => sendCsv(response, "a.csv", ["A", "B"], chunks()));
  app.use(((error, _request, response, next) => {
    errors.push(error);
    if (response.headersSent) return next(error);
    response.status(503).send("later");
  }) satisfies express.ErrorRequestHandler);
  return { url: `http://127.0.0.1:${await listening(createServer(app))}/file`, errors };
}

describe("a file", () => {
  test("has a byte order mark, its columns and all rows", async () => {
    const { url } = await serve(async function* () {
      yield [["1", "2"]];
      yield [["3", "4"]];
    });
    const response = await fetch(url);
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="a.csv"');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString("utf8")).toBe('\ufeff"A","B"\r\n"1","2"\r\n"3","4"\r\n');
  });

  test("that can't be begun is answered with the error", async () => {
    // biome-ignore lint/correctness/useYield: it fails before the first chunk
    const { url } = await serve(async function* () {
      throw new Error("unavailable");
    });
    expect((await fetch(url)).status).toBe(503);
  });

  test("that fails midway is broken off, so that it never looks whole", async () => {
    const { url, errors } = await serve(async function* () {
      yield [["1", "2"]];
      throw new Error("unavailable");
    });
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
    expect(errors).toHaveLength(1);
  });

  test("is read no faster than the browser takes it, and no further once the browser has gone", async () => {
    const CHUNK = 1_000_000;
    let read = 0;
    const ended = Promise.withResolvers<void>();
    const { url, errors } = await serve(async function* () {
      try {
        for (;;) {
          read += CHUNK;
          yield [[randomBytes((CHUNK / 4) * 3).toString("base64"), ""]];
        }
      } finally {
        ended.resolve();
      }
    });
    const leaving = new AbortController();
    const reader = (await fetch(url, { signal: leaving.signal })).body!.getReader();
    // What is ahead is in buffers of both sides.
    for (let taken = 0; taken < 40 * CHUNK; expect(read - taken).toBeLessThan(30 * CHUNK)) {
      taken += (await reader.read()).value!.length;
    }
    leaving.abort();
    await ended.promise;
    expect(errors).toEqual([]);
  });
});
