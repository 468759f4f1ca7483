import { expect, test } from "@jest/globals";
import { forClients, type OpenApi } from "./for-clients.ts";

/** Returns a document with one operation, in the form for clients. */
function written({ body, answer, schemas = {} }: { body: object; answer: object; schemas?: object }) {
  const json = (schema: object, value: object) => ({ "application/json": { schema, examples: { one: { value } } } });
  const document = {
    paths: {
      "/v1/things": {
        post: {
          operationId: "createThing",
          requestBody: {
            content: json({ $ref: "#/components/schemas/ThingRequest" }, { kind: "a", identifiers: { uei: "X" } }),
          },
          responses: { 200: { content: json({ $ref: "#/components/schemas/Thing" }, {}) } },
        },
      },
    },
    webhooks: {},
    components: { parameters: {}, responses: {}, schemas: { ThingRequest: body, Thing: answer, ...schemas } },
  };
  const { components, paths } = forClients(document as unknown as OpenApi);
  // biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
  return { schemas: components.schemas as any, operation: paths["/v1/things"]!.post as any };
}

const kind = { type: "string", enum: ["a", "b"], description: "The kind." };
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const object = (properties: object) => ({ type: "object", properties });

test("a list of values stays one in a request, and is open in an answer, also by name", () => {
  const { schemas } = written({
    body: object({ kind: reference("Kind") }),
    answer: object({ kind: reference("Kind"), own: { type: "string", const: "a" } }),
    schemas: { Kind: kind },
  });
  expect(schemas.Kind).toEqual(kind);
  expect(schemas.Thing).toEqual({
    ...object({
      kind: {
        type: "string",
        description: "The kind. Known values: `a`, `b`. More may be added.",
        "x-known-values": ["a", "b"],
      },
      own: { type: "string", description: "Known values: `a`. More may be added.", "x-known-values": ["a"] },
    }),
    additionalProperties: true,
  });
});

test("identifiers are a list in one form, in schemas and examples", () => {
  const { schemas, operation } = written({
    body: object({ kind, identifiers: reference("IdentifierInput") }),
    answer: object({}),
    schemas: { IdentifierInput: { oneOf: [object({}), { type: "array" }], description: "At least one." } },
  });
  const example = { kind: "a", identifiers: [{ type: "uei", value: "X" }] };
  expect(Object.keys(schemas)).toEqual(["Identifier", "Thing", "ThingRequest"]);
  expect(schemas.ThingRequest.properties.identifiers).toMatchObject({ type: "array", items: reference("Identifier") });
  expect(operation.requestBody.content["application/json"].examples.one.value).toEqual(example);
  expect(schemas.ThingRequest.example).toEqual(example);
  expect(schemas.ThingRequest.properties.kind).toEqual({ ...kind, example: "a" });
});

test.each<[string, object, object]>([
  ["keeps a short pattern", { type: "string", pattern: "^a$" }, { type: "string", pattern: "^a$" }],
  ["leaves out a long pattern", { type: "string", pattern: "a".repeat(61) }, { type: "string" }],
  [
    "leaves out a pattern beside a format",
    { type: "string", format: "date", pattern: "^a$" },
    { type: "string", format: "date" },
  ],
  ["leaves out a title", { type: "string", title: "T" }, { type: "string" }],
  ["leaves out which fields belong together", { ...object({}), anyOf: [{ required: ["x"] }] }, object({})],
  ["writes null as a type", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: ["string", "null"] }],
  [
    "keeps a field that is called like a rule",
    object({ pattern: kind, title: kind }),
    object({ pattern: kind, title: kind }),
  ],
])("a request %s", (_name, field, expected) => {
  const { schemas } = written({ body: object({ field }), answer: object({}) });
  expect(schemas.ThingRequest.properties.field).toEqual(expected);
});

test("an answer of several forms is one object with the fields of all", () => {
  const forms = { One: { ...object({ id: kind }), required: ["id"] }, Two: object({ list: { type: "array" } }) };
  const { schemas } = written({
    body: object({}),
    answer: { oneOf: [reference("One"), reference("Two")], description: "Either." },
    schemas: forms,
  });
  expect(Object.keys(schemas)).toEqual(["Thing", "ThingRequest"]);
  expect(schemas.Thing).toEqual({
    ...object({ id: expect.objectContaining({ "x-known-values": ["a", "b"] }), list: { type: "array" } }),
    ...{ description: "Either.", additionalProperties: true },
  });
});

test("an error has one schema, whichever codes its status has", () => {
  const one = { allOf: [reference("Error"), object({ error: { enum: ["a"] } })] };
  const { schemas } = written({ body: object({}), answer: object({ one }), schemas: { Error: object({}) } });
  expect(schemas.Thing.properties.one).toEqual(reference("Error"));
});
