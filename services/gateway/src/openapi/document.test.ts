import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { allowedMethods, routes } from "../routes/table.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { exactDocument, openApiDocument } from "./document.ts";
import { operations } from "./operations.ts";

// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
const document: any = openApiDocument("1.2.3", "https://api.example.test");

describe("the document", () => {
  test("has every route, and the paths that need no key", () => {
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = routes.map(({ method, path }) => `${method} ${path.replace(":id", "{id}")}`);
    const open = ["GET /.well-known/jwks.json", "GET /v1/health", "GET /v1/openapi.json"];
    expect(documented.toSorted()).toEqual([...served, ...open].toSorted());
    expect(allowedMethods(routes)).toContain("POST");
  });

  test("has different operation ids", () => {
    const ids = operations.map(({ docs }) => docs.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("refers only to components that exist, and uses all of them", () => {
    const text = JSON.stringify(document);
    const used = new Set(
      [...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
    );
    const existing = ["schemas", "responses", "headers", "parameters"].flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `${kind}/${name}`),
    );
    expect([...used].toSorted()).toEqual(existing.toSorted());
  });

  test.each(operations.map((operation) => [operation.docs.operationId, operation] as const))(
    "%s has examples that its schemas accept",
    (_id, { body, docs, readBody }) => {
      for (const example of Object.values(docs.requests ?? {})) {
        if (!readBody) expect(body!.safeParse(example).error).toBeUndefined();
        if (docs.body) expect(docs.body.safeParse(example).error).toBeUndefined();
      }
      for (const { body: schema, examples = {} } of Object.values(docs.answers)) {
        for (const example of Object.values(examples)) expect(schema!.safeParse(example).error).toBeUndefined();
      }
      expect(Object.keys(docs.requests ?? {}).length > 0).toBe(body !== undefined);
    },
  );

  test("allows unknown fields in answers; that requests refuse them stands in words, and in the exact document", () => {
    const { schemas } = exactDocument("1.2.3", "https://api.example.test").components;
    for (const name of ["LookupRequest", "CreateEntityRequest", "CreateMonitorRequest"]) {
      expect([name, schemas[name]!.additionalProperties]).toEqual([name, false]);
    }
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
    expect(document.info.description).toContain("unknown fields are refused");
    for (const name of ["Entity", "Verification", "Monitor", "Error", "MonitorChangeDetected"]) {
      expect([name, document.components.schemas[name].additionalProperties]).toEqual([name, true]);
    }
  });

  test("has nothing that generators of clients stumble over", () => {
    const found: string[] = [];
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== "object" || node === null) return;
      const { pattern = "", format, anyOf, oneOf, title, minProperties } = node as Record<string, unknown>;
      if (typeof pattern === "string" && pattern !== "" && format) found.push(`${path}: a pattern beside a format`);
      if (typeof pattern === "string" && [...pattern].some((each) => each > "\uffff")) found.push(`${path}: a pattern`);
      if (Array.isArray(anyOf) || (Array.isArray(oneOf) && minProperties)) found.push(`${path}: forms`);
      if (typeof title === "string" && path !== "/info") found.push(`${path}: a title`);
      for (const [name, value] of Object.entries(node)) walk(value, `${path}/${name}`);
    };
    walk(document, "");
    expect(found).toEqual([]);
    expect(document.servers[0].url).toBe("https://api.example.test");
  });

  test("has each schema of a webhook also under a path", () => {
    const { callbacks } = document.paths["/v1/monitors"].post;
    const bodies = [callbacks.changeDetected, document.webhooks].map((hooks) =>
      Object.values<{ post: { requestBody: object } }>(hooks).map(({ post }) => post.requestBody),
    );
    expect(bodies[0]).toEqual(bodies[1]);
  });
});

const gateway = await startTestGateway();
describe("GET /v1/openapi.json", () => {
  const get = (headers: Record<string, string> = {}) => fetch(`${gateway.baseUrl}/v1/openapi.json`, { headers });

  test("returns the document without a key, and is not rate limited", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.has("ratelimit")).toBe(false);
    expect(await response.json()).toEqual(document);
  });

  test.each(["1.1", "1.2"] as const)("is the same in YAML %s", async (version) => {
    const response = await fetch(`${gateway.baseUrl}/v1/openapi.yaml`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/yaml"]);
    expect(parse(await response.text(), { version })).toEqual(document);
  });

  test("answers 304 without a body to its ETag, and gzips on request", async () => {
    const first = await get({ "Accept-Encoding": "gzip" });
    expect(first.headers.get("content-encoding")).toBe("gzip");
    expect(first.headers.get("vary")).toBe("Accept-Encoding");
    await first.arrayBuffer();
    const tag = first.headers.get("etag")!;
    for (const known of [tag, `"other", ${tag}`, tag.replace("W/", ""), "*"]) {
      const response = await get({ "If-None-Match": known });
      expect([response.status, await response.text()]).toEqual([304, ""]);
    }
    expect(
      (await get({ "If-None-Match": '"other"', "Accept-Encoding": "gzip;q=0" })).headers.has("content-encoding"),
    ).toBe(false);
  });
});
