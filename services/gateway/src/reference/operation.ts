import { type Html, html } from "@vvs/http/html";
import { codeBlocks } from "./code.ts";
import {
  type Answer,
  type Body,
  type Document,
  isReference,
  nameIn,
  type OperationObject,
  type Parameter,
} from "./document.ts";
import { inline, markdown } from "./markdown.ts";
import { samplesOf } from "./samples.ts";
import { describeSchema, fieldTable, typeOf } from "./schema.ts";

/** Returns the section of an operation. */
export function operationSection(document: Document, method: string, path: string, operation: OperationObject): Html {
  const { operationId, summary, description, requestBody } = operation;
  return html`<section class="operation" id="${operationId}">
<h3>${summary}</h3>
<p class="path"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${markdown(description)}
${codeBlocks(operationId, samplesOf(method, path, operation))}
${parameterTable(document, operation)}
${requestBody && html`<h4>Body</h4>${describeSchema(requestBody.content["application/json"].schema)}${examplesOf(requestBody.content["application/json"])}`}
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
${examplesOf(operation.requestBody!.content["application/json"])}
<h4>Your answers</h4>
${answersTable(document, operation)}
</section>
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

function examplesOf({ examples }: Body): Html {
  return html`${Object.values(examples).map(
    ({
      summary,
      value,
    }) => html`<details><summary>Example: ${summary}</summary><pre tabindex="0"><code>${typeof value === "string" ? value : JSON.stringify(value, undefined, 2)}</code></pre></details>
`,
  )}`;
}

function answersTable({ components }: Document, { responses }: OperationObject): Html {
  const rows = Object.entries(responses).map(([status, answer]) => {
    const { description, content }: Answer = isReference(answer) ? components.responses[nameIn(answer)]! : answer;
    const lines = description.split("\n").map((line) => line.replace(/^- /, ""));
    const isError = isReference(answer);
    const [body] = Object.values(content ?? {});
    return html`<tr><th scope="row">${status}</th><td>${lines.map((line) => html`<div>${inline(line)}</div>`)}${
      body && !isError && html`<div>${typeOf(body.schema)}</div>${examplesOf(body)}`
    }</td></tr>
`;
  });
  return html`<div class="table"><table><thead><tr><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
