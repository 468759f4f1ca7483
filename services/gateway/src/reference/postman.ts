import { type Document, isReference, nameIn, type OperationObject, operationsOf, type Parameter } from "./document.ts";

/** Variables of the collection with the ids of earlier answers, by the prefix of the ids. */
const variables: Readonly<Record<string, string>> = {
  ent: "entity_id",
  ver: "verification_id",
  evd: "evidence_id",
  mon: "monitor_id",
  job: "job_id",
};

/** Which ids of an answer later requests use. */
const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  lookupEntity: { entity_id: "answer.id" },
  createEntity: { entity_id: "answer.id" },
  verify: {
    entity_id: "answer.entity_id",
    verification_id: "answer.id",
    evidence_id: 'answer.results[0].evidence_uri.split("/").pop()',
  },
  createMonitor: { monitor_id: "answer.id" },
  createJob: { job_id: "answer.id" },
};

/** Examples of bodies that succeed however often they are sent, where the first one does not. */
const repeatable: Readonly<Record<string, string>> = {
  createEntity: "with_your_own_number",
  createMonitor: "without_a_webhook",
};

const description = `Set the variable \`api_key\` to a test key (\`svc_test_…\`), and \`base_url\` to the address of the service. Then send the requests from top to bottom, or run the collection: every request succeeds, and takes its ids from the answers before it. The monitor that it creates is canceled at the end.`;

/**
 * Returns a Postman collection, version 2.1, with a request for every operation. Sent in its order with a test key, each
 * answers with its 2xx status, which its test checks.
 */
export function postmanCollection(document: Document, baseUrl: string): object {
  return {
    info: {
      name: "Vendor Verification API",
      version: document.info.version,
      description,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{api_key}}", type: "string" }] },
    variable: [
      { key: "base_url", value: baseUrl },
      { key: "api_key", value: "" },
      ...Object.values(variables).map((key) => ({ key, value: "" })),
    ],
    item: document.tags
      .map(({ name, description }) => ({
        name,
        description,
        item: operationsOf(document, name).map(({ method, path, operation }) =>
          itemOf(document, method, path, operation),
        ),
      }))
      .filter(({ item }) => item.length > 0),
  };
}

function itemOf({ components }: Document, method: string, path: string, operation: OperationObject): object {
  const { operationId, summary, description, parameters = [], requestBody, security, responses } = operation;
  const all = parameters.map((one): Parameter => (isReference(one) ? components.parameters[nameIn(one)]! : one));
  const placed = (place: string) => all.filter((parameter) => parameter.in === place);
  const segments = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ":$1")
    .split("/");
  const query = placed("query").map(({ name, description, required = false, schema }) => ({
    ...{ key: name, value: String(schema.default ?? ""), description, disabled: !required },
  }));
  const headers = placed("header").map(({ name, description }) => ({ key: name, value: "{{$guid}}", description }));
  const url = {
    raw: `{{base_url}}/${segments.join("/")}`,
    host: ["{{base_url}}"],
    path: segments,
    ...(query.length > 0 && { query }),
    variable: placed("path").map(({ name, description }) => ({
      key: name,
      value: variableIn(description),
      description,
    })),
  };
  const body = requestBody?.content["application/json"].examples;
  return {
    name: summary,
    event: [{ listen: "test", script: { type: "text/javascript", exec: testOf(operationId, responses) } }],
    request: {
      method,
      description,
      ...(security?.length === 0 && { auth: { type: "noauth" } }),
      header: [...(body ? [{ key: "Content-Type", value: "application/json" }] : []), ...headers],
      ...(body && { body: jsonBody((body[repeatable[operationId] ?? ""] ?? Object.values(body)[0])!.value) }),
      url,
    },
    response: [],
  };
}

/** Returns the lines of the test of an answer, which also keeps its ids. */
function testOf(operationId: string, responses: OperationObject["responses"]): string[] {
  const status = Object.keys(responses).find((each) => each.startsWith("2"));
  const ids = Object.entries(kept[operationId] ?? {});
  return [
    `pm.test("answers ${status}", () => {`,
    `  pm.response.to.have.status(${status});`,
    ...(ids.length > 0 ? ["  const answer = pm.response.json();"] : []),
    ...ids.map(([name, value]) => `  pm.collectionVariables.set("${name}", ${value});`),
    "});",
  ];
}

/** Returns the variable for an id by the description of its parameter, which names its prefix. */
function variableIn(description: string): string {
  const [, prefix = ""] = /`([a-z]+)_…`/.exec(description) ?? [];
  return `{{${variables[prefix]}}}`;
}

function jsonBody(value: unknown): object {
  const raw = JSON.stringify(value, undefined, 2).replaceAll(
    /\b([a-z]{3})_[0-9a-z]{26}\b/g,
    (_id, prefix: string) => `{{${variables[prefix]}}}`,
  );
  return { mode: "raw", raw, options: { raw: { language: "json" } } };
}
