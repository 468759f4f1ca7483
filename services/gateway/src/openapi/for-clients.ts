import { identifierTypes } from "@vvs/identifiers";

/** A part of an OpenAPI document. */
type Node = { readonly [name: string]: unknown };

/** The parts of an OpenAPI document that are rewritten here. */
export interface OpenApi extends Node {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Node & { readonly schemas: Schemas; readonly responses: Node; readonly parameters: Node };
}

interface Operation extends Node {
  readonly operationId: string;
  readonly parameters?: unknown;
  readonly requestBody?: unknown;
  readonly responses: unknown;
}
type Schemas = Readonly<Record<string, Node>>;

/** Longest pattern that is shown: longer ones describe whole alphabets, which the server checks. */
const LONGEST_PATTERN = 60;

const IDENTIFIER = {
  type: "object",
  description: "One identifier of a vendor.",
  properties: {
    type: { type: "string", enum: identifierTypes, example: "uei" },
    value: { type: "string", minLength: 1, description: "Spaces and dashes are removed.", example: "SANDBXACTVE1" },
  },
  required: ["type", "value"],
};

/** The short form of a list of identifiers, which the schemas of an exact document allow beside it. */
const IDENTIFIER_FORMS = ["IdentifierCriteria", "IdentifierInput"];

/**
 * Rewrites an exact document so that generators of clients make working ones of it, which survive what is added later: answers
 * are open, and their lists of values are plain strings, with the known values in `x-known-values`. Requests keep their
 * lists, without rules that only the server can check. Identifiers are a list in one form. Each property has an example from
 * its request's. What a webhook sends is also described where a monitor is created, since many generators leave webhooks out.
 */
export function forClients(document: OpenApi): OpenApi {
  const { schemas } = document.components;
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const answered = reached([...operations.map(({ responses }) => responses), document.webhooks], document);
  const isEnum = (name: string) => Array.isArray(schemas[name]?.enum);
  const answer = (node: unknown) => rewrite(node, (each) => openAnswer(each, schemas));
  const request = (node: unknown) => rewrite(node, (each) => plainRequest(each, schemas));

  const examples = examplesOf(operations);
  const written = Object.entries(schemas)
    .filter(([name]) => !IDENTIFIER_FORMS.includes(name))
    .map(([name, schema]) => {
      const isRequest = isEnum(name) || !answered.has(name);
      return [name, withExamples((isRequest ? request(schema) : answer(schema)) as Node, examples.get(name) ?? [])];
    });
  const rewritten = (operation: Operation): Operation => ({
    ...operation,
    ...(operation.parameters !== undefined && { parameters: request(operation.parameters) }),
    ...(operation.requestBody !== undefined && { requestBody: withLists(request(operation.requestBody) as Node) }),
    responses: answer(operation.responses),
  });
  const paths = mapValues(document.paths, (item) => mapValues(item, rewritten));
  const webhooks = mapValues(document.webhooks, ({ post }) => ({
    post: { ...(answer(post) as Operation), responses: post.responses },
  }));
  const all: OpenApi = {
    ...document,
    paths: withCallback(paths, webhooks),
    webhooks,
    components: {
      ...document.components,
      parameters: request(document.components.parameters) as Node,
      responses: answer(document.components.responses) as Node,
      schemas: { ...Object.fromEntries(written), Identifier: IDENTIFIER },
    },
  };
  const used = reached([all.paths, all.webhooks], all);
  const left = Object.entries(all.components.schemas).filter(([name]) => used.has(name));
  const sorted = left.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { ...all, components: { ...all.components, schemas: Object.fromEntries(sorted) } };
}

/** Opens one node of an answer: any further field may come, and any further value. */
function openAnswer(node: Node, schemas: Schemas): Node {
  const named = schemas[nameIn(node) ?? ""];
  if (Array.isArray(named?.enum)) return openValues({ ...named, ...withoutReference(node) });
  if (isError(node)) return { $ref: "#/components/schemas/Error" };
  if (Array.isArray(node.oneOf)) return oneObject(node, schemas);
  if (node.type === "string" && (Array.isArray(node.enum) || "const" in node)) return openValues(node);
  const { pattern, title: _title, const: _fixed, ...rest } = node;
  return {
    ...rest,
    ...(pattern !== undefined && node.format === undefined && { pattern }),
    ...(node.type === "object" && isNode(node.properties) && { additionalProperties: true }),
  };
}

/**
 * Writes "one of these objects" as one object with the fields of all, none of them required: some generators find out by trial
 * which one was sent, and open objects all fit.
 */
function oneObject({ oneOf, ...rest }: Node, schemas: Schemas): Node {
  const forms = (oneOf as readonly Node[]).map((form) => schemas[nameIn(form) ?? ""] ?? form);
  const properties = Object.assign({}, ...forms.map((form) => form.properties)) as Node;
  return {
    type: "object",
    ...rest,
    properties: rewrite(properties, (each) => openAnswer(each, schemas), true),
    additionalProperties: true,
  };
}

/** Makes one node of a request what generators can write down. */
function plainRequest(node: Node, schemas: Schemas): Node {
  const name = nameIn(node);
  if (name && IDENTIFIER_FORMS.includes(name))
    return { ...listOfIdentifiers(schemas[name]!), ...withoutReference(node) };
  // Beside a closed object some generators close open ones too.
  const { pattern, title: _title, anyOf, additionalProperties: _closed, ...rest } = nullable(node);
  const isShown = typeof pattern === "string" && node.format === undefined && pattern.length <= LONGEST_PATTERN;
  return {
    ...rest,
    ...(isShown && { pattern }),
    ...(anyOf !== undefined && !isRuleOfFields(anyOf) && { anyOf }),
  };
}

/** Writes "this or null" as one type, which more generators understand. */
function nullable(node: Node): Node {
  const [value, other] = (node.anyOf ?? []) as readonly Node[];
  if (!value || other?.type !== "null" || typeof value.type !== "string") return node;
  const { anyOf: _either, ...rest } = node;
  return { ...value, ...rest, type: [value.type, "null"] };
}

function listOfIdentifiers({ description = "", oneOf }: Node): Node {
  const { minItems, maxItems } = (oneOf as readonly Node[]).find(({ type }) => type === "array")!;
  return {
    ...{ type: "array", minItems, maxItems },
    items: { $ref: "#/components/schemas/Identifier" },
    description: `${description} The short form \`{"uei": "…"}\`, an object of values by type, is accepted too.`.trim(),
  };
}

/** Returns a string with its known values in words and in `x-known-values`. */
function openValues({ enum: values, const: value, description = "", title: _title, ...rest }: Node): Node {
  const known = (values as readonly string[] | undefined) ?? [value as string];
  const words = `Known values: ${known.map((each) => `\`${each}\``).join(", ")}. More may be added.`;
  return { ...rest, type: "string", description: `${description} ${words}`.trim(), "x-known-values": known };
}

/** Is it the error with its codes of one status? */
const isError = ({ allOf }: Node) => Array.isArray(allOf) && nameIn(allOf[0]) === "Error";

/** Does a rule only say which fields must be there together? */
const isRuleOfFields = (rules: unknown) =>
  Array.isArray(rules) && rules.every((rule) => isNode(rule) && Object.keys(rule).join() === "required");

/** Describes the webhook beside the creation of a monitor. */
function withCallback(paths: OpenApi["paths"], webhooks: OpenApi["webhooks"]): OpenApi["paths"] {
  const monitors = paths["/v1/monitors"];
  if (!monitors?.post) return paths;
  const sent = Object.values(webhooks).map(({ post }) => ({ ...post, operationId: `${post.operationId}Callback` }));
  const callbacks = { changeDetected: { "{$request.body#/webhook_url}": { post: sent[0] } } };
  return { ...paths, "/v1/monitors": { ...monitors, post: { ...monitors.post, callbacks } } };
}

/** Returns the examples of request bodies, by the name of their schema. */
function examplesOf(operations: readonly Operation[]): ReadonlyMap<string, readonly Node[]> {
  const bodies = operations.flatMap(({ requestBody }) => (requestBody ? [jsonOf(requestBody as Node)] : []));
  return new Map(
    bodies.flatMap(({ schema, examples }) => {
      const name = nameIn(schema);
      return name ? [[name, Object.values(examples as Schemas).map(({ value }) => asList(value as Node))]] : [];
    }),
  );
}

/** Writes examples of a whole body to its schema and to its properties, the first one that has them. */
function withExamples(schema: Node, examples: readonly Node[]): Node {
  if (examples.length === 0) return schema;
  const values = Object.assign({}, ...examples.toReversed()) as Node;
  const properties = mapValues(schema.properties as Schemas, (property, name) =>
    name in values && !("$ref" in property) ? { ...property, example: values[name] } : property,
  );
  return { ...schema, properties, example: examples[0] };
}

/** Writes the examples of a body with identifiers as a list. */
function withLists(body: Node): Node {
  const json = jsonOf(body);
  const examples = mapValues(json.examples as Schemas, (each) => ({ ...each, value: asList(each.value as Node) }));
  return { ...body, content: { "application/json": { ...json, examples } } };
}

const jsonOf = ({ content }: Node) => (content as Schemas)["application/json"]!;

function asList(body: Node): Node {
  const { identifiers } = body;
  if (!isNode(identifiers)) return body;
  return { ...body, identifiers: Object.entries(identifiers).map(([type, value]) => ({ type, value })) };
}

/** Returns the names of the schemas that these parts lead to. */
function reached(parts: readonly unknown[], document: OpenApi): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null || seen.has(node)) return;
    seen.add(node);
    if (Array.isArray(node)) return void node.forEach(walk);
    const reference = (node as Node).$ref;
    const name = nameIn(node);
    if (name) names.add(name);
    if (typeof reference === "string") walk(reference.slice(2).split("/").reduce<unknown>(memberOf, document));
    for (const [key, value] of Object.entries(node)) if (!EXAMPLES.includes(key)) walk(value);
  };
  parts.forEach(walk);
  return names;
}

const memberOf = (node: unknown, name: string) => (node as Node | undefined)?.[name];

/** Keys whose values are data, not parts of the document. */
const EXAMPLES = ["example", "examples", "default", "enum", "x-known-values"];

/** Rewrites all nodes, the inner ones first. */
function rewrite(node: unknown, change: (node: Node) => Node, isNames = false): unknown {
  if (Array.isArray(node)) return node.map((each) => rewrite(each, change));
  if (!isNode(node)) return node;
  const inner = mapValues(node, (value, key) =>
    EXAMPLES.includes(key) && !isNames ? value : rewrite(value, change, key === "properties"),
  );
  // The keys of `properties` are names of fields, which may be those of rules.
  return isNames ? inner : change(inner);
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

const nameIn = (node: unknown): string | undefined =>
  isNode(node) && typeof node.$ref === "string" ? /^#\/components\/schemas\/(.+)$/.exec(node.$ref)?.[1] : undefined;

function withoutReference({ $ref: _reference, ...rest }: Node): Node {
  return rest;
}

function mapValues<In, Out>(
  values: Readonly<Record<string, In>>,
  change: (value: In, name: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
