import { expect, test } from "@jest/globals";
import { openApiDocument } from "../openapi/document.ts";
import { operations } from "../openapi/operations.ts";
import { startTestGateway } from "../testing/gateway.ts";
import type { Document } from "./document.ts";
import { postmanCollection } from "./postman.ts";

const gateway = await startTestGateway();
const baseUrl = "https://api.example.test";
const document: object = openApiDocument("1.2.3", baseUrl);

interface Item {
  readonly name: string;
  readonly request: { readonly method: string; readonly url: { readonly raw: string } };
}

test("the collection is served without a key, and linked from the reference page", async () => {
  const response = await fetch(`${gateway.baseUrl}/docs/postman.json`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(await response.json()).toEqual(postmanCollection(document as Document, baseUrl));
  expect(await (await fetch(`${gateway.baseUrl}/docs`)).text()).toContain('href="/docs/postman.json"');
});

test("the collection has one request for every operation, and takes each id from a variable that it has", () => {
  const { item, variable } = postmanCollection(document as Document, baseUrl) as {
    item: { item: Item[] }[];
    variable: { key: string }[];
  };
  const requests = item.flatMap((folder) => folder.item).map(({ request }) => `${request.method} ${request.url.raw}`);
  const served = operations.map(({ method, path }) => `${method} {{base_url}}${path}`);
  expect(requests.toSorted()).toEqual(served.toSorted());
  const text = JSON.stringify(item);
  const used = [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
  const known = variable.map(({ key }) => key).filter((key) => key !== "api_key");
  expect([...new Set(used)].toSorted()).toEqual(known.toSorted());
  expect(text).not.toMatch(/"(ent|ver|evd|mon)_[0-9a-z]{26}"/);
});
