import { request } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { createWorkMeter, untilEnd } from "@vvs/testing";

/** Part of a request. */
interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const SIZE = 2_000;
/** All headers together have at most 16 kB. */
const HEADERS_SIZE = 7_000;
/** Work that does not depend on the size differs a little from call to call. */
const NOISE = 20_000;

const meter = untilEnd(createWorkMeter());
// Only what is loaded from here on is measured.
const { startTestGateway } = await import("./testing/gateway.ts");
const gateway = await startTestGateway();

/** Sends a request as it is, without a client that would refuse or change it. Returns the status. */
async function send({ method = "GET", path = "/docs", headers = {}, body }: Sent): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const own = {
    authorization: `Bearer ${gateway.key}`,
    ...(body && { "content-type": "application/json" }),
    ...headers,
  };
  request({ port: gateway.port, method, path, headers: own }, (response) => {
    response.resume().once("end", () => resolve(response.statusCode));
  })
    .once("error", reject)
    .end(body);
  return promise;
}

/** Repeats a text until it has about `size` characters. */
const filled = (part: string, size: number) => part.repeat(Math.ceil(size / part.length));
const numbered = (size: number, part: (at: number) => string) =>
  Array.from({ length: Math.ceil(size / part(100).length) }, (_, at) => part(at)).join("");

async function expectLinear(sentFor: (size: number) => Sent, size = SIZE): Promise<void> {
  await send(sentFor(size)); // loads and compiles what is used once
  const work = async (size: number) => meter.count(() => send(sentFor(size)));
  const [once, twice] = [await work(size), await work(2 * size)];
  expect(twice).toBeLessThan(2.2 * once + NOISE);
}

describe("a request that is twice as long takes at most twice the work", () => {
  const headers: readonly string[] = [
    "accept",
    "accept-encoding",
    "baggage",
    "cookie",
    "forwarded",
    "idempotency-key",
    "if-none-match",
    "traceparent",
    "tracestate",
    "x-forwarded-for",
    "x-request-id",
  ];
  const inAll = (text: string) => Object.fromEntries(headers.map((name) => [name, text]));
  test.each<[string, (size: number) => string]>([
    ["spaces", (size) => `a${filled(" ", size)}b`],
    ["tabs", (size) => `gzip${filled("\t", size)};${filled("\t", size)}x`],
    ["one word", (size) => `Bearer ${filled("a", size)} b`],
    ["many words", (size) => filled("application/json ", size)],
    ["entries", (size) => filled("gzip,", size)],
    ["qualities", (size) => filled("gzip;q=0.001,", size)],
    ["a long quality", (size) => `gzip;q=.${filled("1", size)}x`],
    ["zeros", (size) => `gzip;q=1${filled(".0", size)}x`],
    ["quotes", (size) => filled('W/"', size)],
    ["pairs", (size) => numbered(size, (at) => `k${at}=v;`)],
    ["digits", (size) => filled("12-345678 ", size)],
    ["colons", (size) => filled("a:", size)],
    ["dots", (size) => filled("1.", size)],
  ])("in headers: %s", async (_name, text) => {
    const post = { method: "POST", path: "/v1/entities", body: "{}" };
    await expectLinear((size) => ({ headers: inAll(text(size / headers.length)) }), HEADERS_SIZE);
    await expectLinear((size) => ({ ...post, headers: inAll(text(size / headers.length)) }), HEADERS_SIZE);
    for (const name of ["authorization", "content-encoding", "content-type"]) {
      await expectLinear((size) => ({ ...post, headers: { [name]: text(size) } }), HEADERS_SIZE);
    }
  });

  test.each<[string, (size: number) => string]>([
    ["other parameters", (size) => numbered(size, (at) => `&k${at}=v`)],
    ["parameters with digits", (size) => numbered(size, (at) => `&k1234567${at}=v`)],
    ["one parameter", (size) => filled("&limit=1", size)],
    ["empty parameters", (size) => filled("&limit=", size)],
    ["question marks", (size) => filled("?", size)],
    ["broken escapes", (size) => filled("%", size)],
    ["escapes", (size) => `external_id=${filled("%31", size)}`],
    ["a long cursor", (size) => `cursor=${filled("a", size)}`],
    ["a long limit", (size) => `limit=${filled("0", size)}`],
  ])("in the query: %s", async (_name, text) => {
    await expectLinear((size) => ({ path: `/v1/entities?${text(size)}` }));
    await expectLinear((size) => ({ path: `/docs?${text(size)}` }));
  });

  test.each(["/", "%", "a/", ".", "../", "%2f", "ent_"])("in the path: %s", async (part) => {
    await expectLinear((size) => ({ path: `/v1/entities/${filled(part, size)}` }));
    await expectLinear((size) => ({ path: `/v1/entities/${filled(part, size)}/snapshots` }));
  });

  const inLevels = (size: number, leaf: string) => {
    const level = `"a":${leaf},`.repeat(Math.ceil(size / 15 / (leaf.length + 5)));
    return `${`{${level}"b":`.repeat(15)}{}${"}".repeat(15)}`;
  };
  const twiceInLevels = (depth: number, inner: string): string =>
    depth === 0 ? inner : `{"a":1,"a":${twiceInLevels(depth - 1, inner)}}`;
  const name = (text: string) => JSON.stringify({ legal_name: text, external_id: text, webhook_url: text });
  test.each<[string, (size: number) => string]>([
    ["members given twice", (size) => `{${numbered(size, (at) => `"k${at}":1,"k${at}":1,`)}"a":1}`],
    ["contradictions", (size) => `{${numbered(size, (at) => `"k${at}":1,"k${at}":2,`)}"a":1}`],
    ["one contradiction", (size) => `{${numbered(size, (at) => `"a":${at},`)}"a":1}`],
    ["contradictions in every level", (size) => inLevels(size, "1")],
    ["contradictions under a long key", (size) => `{"${filled("k", size)}":{"a":1,"a":2,"b":1,"b":2}}`],
    ["large members given twice in every level", (size) => twiceInLevels(15, `"${filled("x", size)}"`)],
    ["brackets", (size) => filled("[", size) + filled("]", size)],
    ["brackets in strings", (size) => JSON.stringify({ a: filled('["{', size) })],
    ["an open string", (size) => `{"a":"${filled('\\"', size)}`],
    ["white space", (size) => `{${filled(" ", size)}"a"${filled("\n", size)}:1 `],
    ["unknown members", (size) => `{${numbered(size, (at) => `"k1234567${at}x":1,`)}"a":1}`],
    ["many checks", (size) => `{"checks":[${filled('"a",', size)}"b"]}`],
    ["a list of identifiers", (size) => `{"identifiers":[${filled('{"type":"uei","value":"A"},', size)}{}]}`],
    ["a list of lists", (size) => `{"identifiers":[${filled("[[],{}],", size)}1]}`],
    ["digits", (size) => name(filled("12345678 ", size))],
    ["separated digits", (size) => name(filled("12 - 345678 ", size))],
    ["digits with marks", (size) => name(filled(`1${"\u0301".repeat(50)}`, size))],
    ["one digit with marks", (size) => name(`1${filled("\u0301", size)}`)],
    ["white space in a text", (size) => name(`a${filled(" \u3000", size)}b`)],
    ["an identifier", (size) => JSON.stringify({ identifiers: { tin: filled("1 - ", size) } })],
    ["a URL", (size) => JSON.stringify({ webhook_url: `https://${filled("a.", size)}` })],
    ["a URL with a long query", (size) => JSON.stringify({ webhook_url: `https://a.example/?${filled("@#", size)}` })],
  ])("in a body: %s", async (_name, body) => {
    for (const path of ["/v1/entities", "/v1/verify", "/v1/monitors"]) {
      await expectLinear((size) => ({ method: "POST", path, body: body(size) }));
    }
  });
});

test("no body keeps the gateway busy with more steps than a few for each character", async () => {
  const size = 95_000;
  const entry = '{"type":"tin","value":"12-3456789"},';
  const work = await meter.count(() =>
    send({ method: "POST", path: "/v1/entities/lookup", body: `{"identifiers":[${filled(entry, size)}{}]}` }),
  );
  expect(work).toBeLessThan(20 * size);
});
