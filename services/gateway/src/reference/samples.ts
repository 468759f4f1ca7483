import type { Language } from "./code.ts";
import type { OperationObject } from "./document.ts";

type Body = Readonly<Record<string, unknown>>;

/** Objects whose ids the first steps set, by the collection in the path. */
const objects: Readonly<Record<string, string>> = {
  entities: "entity",
  verifications: "verification",
  evidence: "evidence",
  monitors: "monitor",
  jobs: "job",
};
/** Methods of the clients that are not named like their operation. */
const methods: Readonly<Record<string, string>> = { lookupEntity: "lookup" };
/** Operations whose method of the clients takes this field instead of the body. */
const fields: Readonly<Record<string, string>> = { setExternalId: "external_id" };

/** Stands for the variable with the entity's id in a body. */
const ENTITY = "ENTITY";

/** Returns a call of the operation in each language, with its first example. It runs after the first steps. */
export function samplesOf(method: string, path: string, operation: OperationObject): Record<Language, string> {
  const [example] = Object.values(operation.requestBody?.content["application/json"].examples ?? {});
  const given = example?.value as Body | undefined;
  const body = given && "entity_id" in given ? { ...given, entity_id: ENTITY } : given;
  const isOpen = operation.security?.length === 0;
  const object = path.includes("{id}") ? objects[path.split("/")[2]!] : undefined;
  if (path.includes("{id}") && !object) throw new Error(`the first steps set no id for ${path}`);
  const name = methods[operation.operationId] ?? operation.operationId;
  const field = fields[operation.operationId];
  const value = field ? body?.[field] : body;
  const call = (client: string, id: string, write: (value: unknown) => string) =>
    `${client}(${[...(object ? [id] : []), ...(value === undefined ? [] : [write(value)])].join(", ")})`;
  return {
    curl: curl(method, path.replace("{id}", shellName(object)), body, isOpen),
    typescript: isOpen
      ? `const response = await fetch(\`\${process.env.VENDOR_VERIFICATION_BASE_URL}${path}\`);\nconsole.log(await response.text());`
      : `console.log(await ${call(`client.${name}`, `${object}Id`, script)});`,
    python: isOpen
      ? `from urllib.request import urlopen\n\nprint(urlopen(os.environ["VENDOR_VERIFICATION_BASE_URL"] + "${path}").read())`
      : `print(${call(`client.${snakeCase(name)}`, `${object}_id`, python)})`,
    go: go(method, path, object, body),
  };
}

const shellName = (object: string | undefined) => (object ? `$${object.toUpperCase()}_ID` : "");
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function curl(method: string, path: string, body: Body | undefined, isOpen: boolean): string {
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$VENDOR_VERIFICATION_BASE_URL${path}"`,
    ...(isOpen ? [] : ['-H "Authorization: Bearer $VENDOR_VERIFICATION_API_KEY"']),
    ...(body
      ? ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body).replace(ENTITY, `'"$ENTITY_ID"'`)}'`]
      : []),
  ].join(" \\\n  ");
}

function script(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2).replaceAll(/^(\s*)"(\w+)":/gm, "$1$2:");
  return text.replace(`"${ENTITY}"`, "entityId");
}

/** Returns a value in Python: an object of which each member has a line. */
function python(value: unknown): string {
  if (!isObject(value)) return pythonInline(value);
  const members = Object.entries(value).map(([key, one]) => `    "${key}": ${pythonInline(one)},\n`);
  return `{\n${members.join("")}}`.replace(`"${ENTITY}"`, "entity_id");
}

function pythonInline(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonInline).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `"${key}": ${pythonInline(one)}`)
    .join(", ")}}`;
}

const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function go(method: string, path: string, object: string | undefined, body: Body | undefined): string {
  const [before = "", after = ""] = path.split("{id}");
  const url = object ? `"${before}"+${object}ID${after && `+"${after}"`}` : `"${path}"`;
  const text = body ? `\`${JSON.stringify(body, undefined, 2).replace(ENTITY, "` + entityID + `")}\`` : '""';
  return `answer, err := call("${method}", ${url}, ${text})`;
}
