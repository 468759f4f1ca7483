import type { OperationObject } from "./document.ts";

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
export function curlSnippet(method: string, path: string, operation: OperationObject): string {
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
export function clientSnippet(path: string, operation: OperationObject): string | undefined {
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
