import { describe, expect, test } from "@jest/globals";
import { eventually, untilEnd } from "@vvs/testing";
import { cut, drip, type PlayedServer, playServer, sendJson } from "../../../../../test/outside/played-server.ts";
import type { ProviderError } from "../provider.ts";
import {
  createProviderHttp,
  type ProviderResponse,
  parseJsonAnswer,
  requireAnswered,
  requireOk,
} from "./provider-http.ts";

const http = untilEnd(createProviderHttp());
let server: PlayedServer | undefined;

async function call(
  answer: Parameters<typeof playServer>[0],
  options: { timeoutMs?: number; tls?: boolean } = {},
): Promise<ProviderResponse> {
  server = await playServer(answer);
  return http.call({
    method: "POST",
    url: options.tls ? server.url.replace("http:", "https:") : server.url,
    headers: { "x-api-key": "secret-key", "content-type": "application/json" },
    body: "{}",
    signal: AbortSignal.timeout(options.timeoutMs ?? 5_000),
  });
}

describe("a call", () => {
  test("returns the answer as received, with any status", async () => {
    const response = await call((_call, answer) => sendJson(answer, 418, { short: "and stout" }));
    expect(response).toMatchObject({ status: 418, text: '{"short":"and stout"}' });
    expect(response.contentType).toMatch(/^application\/json/);
    expect(server?.calls).toMatchObject([{ method: "POST", body: "{}", headers: { "accept-encoding": "identity" } }]);
  });

  test("follows no redirect", async () => {
    const response = await call((_call, answer) => void answer.writeHead(307, { location: "/elsewhere" }).end());
    expect(response.status).toBe(307);
    expect(server?.calls).toHaveLength(1);
  });

  test("uses its connections again", async () => {
    const ports = new Set<number | undefined>();
    server = await playServer((_call, answer) => {
      ports.add(answer.req.socket.remotePort);
      sendJson(answer, 200, {});
    });
    for (let index = 0; index < 5; index++) {
      await http.call({ method: "GET", url: server.url, headers: {}, signal: AbortSignal.timeout(5_000) });
    }
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test("has a connection while slow runs wait for answers", async () => {
    const slowRuns = 20;
    server = await playServer(({ url }, answer) => (url === "/slow" ? undefined : sendJson(answer, 200, {})));
    const shared = createProviderHttp({ slowRuns });
    const get = (path: string) => shared.call({ method: "GET", url: server!.url + path, headers: {}, signal });
    const { signal } = new AbortController();
    const waiting = Promise.allSettled(Array.from({ length: slowRuns }, () => get("/slow")));
    try {
      await eventually(() => server!.calls.length === slowRuns);
      expect(await get("/quick")).toMatchObject({ status: 200 });
    } finally {
      await shared.close();
      await waiting;
    }
  });

  test.each<[string, Parameters<typeof playServer>[0], Parameters<typeof call>[1], string]>([
    ["no answer comes", () => undefined, { timeoutMs: 50 }, "timeout"],
    ["a body drips", (_call, answer) => drip(answer, { slowly: "but surely" }), { timeoutMs: 50 }, "timeout"],
    ["the connection is cut", (_call, answer) => cut(answer, { half: "of it" }), {}, "connection"],
    ["the answer is too long", (_call, answer) => void answer.end("x".repeat(1_048_577)), {}, "too_large"],
    ["the server does not use TLS", (_call, answer) => void answer.end(), { tls: true }, "tls"],
  ])("throws when %s, and the error holds no key", async (_name, answer, options, reason) => {
    const error = await call(answer, options).catch((thrown: unknown) => thrown as Error & { reason: string });
    expect(error).toMatchObject({ name: "ProviderError", reason });
    for (let part: unknown = error; part instanceof Error; part = part.cause) {
      expect(`${part.message} ${part.stack} ${JSON.stringify(part)}`).not.toContain("secret-key");
    }
  });
});

describe("an answer in JSON", () => {
  const response = (contentType: string, text: string) => ({ status: 200, headers: {}, contentType, text });

  test.each(["application/json", "application/json;charset=UTF-8", "Application/JSON", "application/hal+json"])(
    "may come as %s",
    (contentType) => {
      expect(parseJsonAnswer(response(contentType, '{"a":1}'))).toEqual({ a: 1 });
    },
  );

  test.each([
    ["text/html", "{}", "wrong_content_type"],
    ["", "{}", "wrong_content_type"],
    ["text/plain; charset=application/json", "{}", "wrong_content_type"],
    ["application/json", "", "wrong_shape"],
    ["application/json", '{"tin":"123456789"', "wrong_shape"],
  ])("is none as %j with %j", (contentType, text, reason) => {
    let thrown: unknown;
    try {
      parseJsonAnswer(response(contentType, text));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ reason });
    // The parser's own error quotes what it could not read.
    expect(thrown).not.toHaveProperty("cause");
  });
});

test.each([
  [200, undefined, "none", "none"],
  [201, undefined, "none", "none"],
  [302, "http_302", "fault", "fault"],
  [400, "http_400", "the input's", "fault"],
  [401, "http_401", "fault", "fault"],
  [403, "http_403", "fault", "fault"],
  [404, "http_404", "the input's", "fault"],
  [422, "http_422", "the input's", "fault"],
  [429, "http_429", "fault", "fault"],
  [500, "http_500", "fault", "fault"],
  [503, "http_503", "fault", "fault"],
])("a %i throws %s; with an input: %s, without one: %s", (status, reason, withInput, withoutInput) => {
  const response = { status, headers: {}, contentType: "", text: "" };
  const faultOf = (check: (response: ProviderResponse) => unknown) => {
    try {
      check(response);
      return "none";
    } catch (error) {
      const { isFault, isInputFault } = error as ProviderError;
      expect(error).toMatchObject({ reason });
      return isFault ? "fault" : isInputFault ? "the input's" : "nobody's";
    }
  };
  expect([faultOf(requireAnswered), faultOf(requireOk)]).toEqual([withInput, withoutInput]);
});
