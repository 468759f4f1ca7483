import { type Html, html } from "@vvs/http/html";
import { type Answer, type Document, isReference, nameIn, type OperationObject, type Parameter } from "./document.ts";
import { inline, markdown } from "./markdown.ts";
import { describeSchema, fieldTable, typeOf } from "./schema.ts";

/** Returns the section of an operation. */
export function operationSection(document: Document, method: string, path: string, operation: OperationObject): Html {
  const { operationId, summary, description, requestBody } = operation;
  const client = clientSnippet(path, operation);
  return html`<section class="operation" id="${operationId}">
<h3>${summary}</h3>
<p class="path"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${markdown(description)}
${codeBlock(`${operationId}-curl`, "curl", curlSnippet(method, path, operation))}
${client && codeBlock(`${operationId}-client`, "TypeScript client", client)}
${parameterTable(document, operation)}
${requestBody && html`<h4>Body</h4>${describeSchema(requestBody.content["application/json"].schema)}${examplesOf(requestBody)}`}
<h4>Answers</h4>
${answersTable(document, operation)}
</section>
`;
}

/** Returns the section of a webhook. */
export function webhookSection(document: Document, name: string, operation: OperationObject): Html {
  return html`<section class="operation" id="${operation.operationId}">
<h3>${operation.summary}</h3>
<p class="path"><span class="method post">POST</span> <code>${name}</code></p>
${markdown(operation.description)}
${parameterTable(document, operation)}
<h4>Body</h4>
${describeSchema(operation.requestBody!.content["application/json"].schema)}
${examplesOf(operation.requestBody!)}
<h4>Your answers</h4>
${answersTable(document, operation)}
</section>
`;
}

/** Returns a block of code with a button that copies it. */
export function codeBlock(id: string, title: string, code: string): Html {
  return html`<figure class="code"><figcaption>${title} <button type="button" data-copy="${id}" hidden>Copy</button></figcaption><pre tabindex="0" aria-label="${title}"><code id="${id}">${code}</code></pre></figure>
`;
}

function parameterTable({ components }: Document, { parameters = [] }: OperationObject): Html {
  const all = parameters.map((one): Parameter => (isReference(one) ? components.parameters[nameIn(one)]! : one));
  if (all.length === 0) return html``;
  const rows = all.map(({ name, description, schema, required = false }) => ({
    name,
    required,
    schema: { ...schema, description },
  }));
  return html`<h4>Path, query and headers</h4>${fieldTable(rows)}`;
}

function examplesOf({ content }: { content: NonNullable<Answer["content"]> }): Html {
  const examples = Object.values(content["application/json"].examples);
  return html`${examples.map(
    ({
      summary,
      value,
    }) => html`<details><summary>Example: ${summary}</summary><pre tabindex="0"><code>${JSON.stringify(value, undefined, 2)}</code></pre></details>
`,
  )}`;
}

function answersTable({ components }: Document, { responses }: OperationObject): Html {
  const rows = Object.entries(responses).map(([status, answer]) => {
    const { description, content }: Answer = isReference(answer) ? components.responses[nameIn(answer)]! : answer;
    const lines = description.split("\n").map((line) => line.replace(/^- /, ""));
    const isError = isReference(answer);
    return html`<tr><th scope="row">${status}</th><td>${lines.map((line) => html`<div>${inline(line)}</div>`)}${
      content && !isError && html`<div>${typeOf(content["application/json"].schema)}</div>${examplesOf({ content })}`
    }</td></tr>
`;
  });
  return html`<div class="table"><table><thead><tr><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A variable of the shell, and of the client's snippets, for the id in a path. */
interface IdName {
  readonly shell: string;
  readonly script: string;
}

/** Ids that the first steps set, by the collection in the path. */
const ids: Readonly<Record<string, IdName>> = {
  entities: { shell: "$ENTITY_ID", script: "entityId" },
  verifications: { shell: "$VERIFICATION_ID", script: "verificationId" },
  evidence: { shell: "$EVIDENCE_ID", script: "evidenceId" },
  monitors: { shell: "$MONITOR_ID", script: "monitorId" },
};

/** Methods of the client that are not named like their operation. */
const methods: Readonly<Record<string, string>> = { lookupEntity: "lookup" };
/** Operations whose method takes this field instead of the body. */
const fields: Readonly<Record<string, string>> = { setExternalId: "external_id" };
const withoutClient: ReadonlySet<string> = new Set(["getHealth", "getOpenApi"]);

function idOf(path: string): IdName | undefined {
  return path.includes("{id}") ? ids[path.split("/")[2]!] : undefined;
}

/** Returns the body of the first example; undefined for an operation without a body. */
function exampleOf({ requestBody }: OperationObject): Readonly<Record<string, unknown>> | undefined {
  const [first] = Object.values(requestBody?.content["application/json"].examples ?? {});
  return first?.value as Readonly<Record<string, unknown>> | undefined;
}

/** Returns a call with curl. It runs in a shell in which the first steps ran. */
function curlSnippet(method: string, path: string, operation: OperationObject): string {
  const body = exampleOf(operation);
  const url = `"$VENDOR_VERIFICATION_BASE_URL${path.replace("{id}", idOf(path)?.shell ?? "")}"`;
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${url}`,
    ...(withoutClient.has(operation.operationId) ? [] : ['-H "Authorization: Bearer $VENDOR_VERIFICATION_API_KEY"']),
    ...(body ? ['-H "Content-Type: application/json"', `-d ${shellText(body)}`] : []),
  ];
  return lines.join(" \\\n  ");
}

/** Returns JSON as an argument of a shell. The example's entity is replaced by the variable. */
function shellText(body: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify({ ...body, ...(body.entity_id !== undefined && { entity_id: "$ENTITY_ID" }) });
  return text.includes("$ENTITY_ID") ? `'${text.replace("$ENTITY_ID", `'"$ENTITY_ID"'`)}'` : `'${text}'`;
}

/** Returns a call with the TypeScript client; undefined where it has none. */
function clientSnippet(path: string, operation: OperationObject): string | undefined {
  if (withoutClient.has(operation.operationId)) return undefined;
  const body = exampleOf(operation);
  const id = idOf(path);
  const field = fields[operation.operationId];
  const content = body && (field ? JSON.stringify(body[field]) : scriptText(body));
  const args = [...(id ? [id.script] : []), ...(content ? [content] : [])];
  return `await client.${methods[operation.operationId] ?? operation.operationId}(${args.join(", ")});`;
}

function scriptText(body: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(body, undefined, 2).replaceAll(/^(\s*)"(\w+)":/gm, "$1$2:");
  return body.entity_id === undefined ? text : text.replace(/entity_id: "[^"]*"/, "entity_id: entityId");
}
