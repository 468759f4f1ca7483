import { type Html, html } from "@vvs/http/html";
import { isReference, nameIn, type Schema } from "./document.ts";
import { inline } from "./markdown.ts";

/** Returns the fields of an object, or its values. */
export function describeSchema(schema: Schema): Html {
  if (isReference(schema)) return html`<p>${typeOf(schema)}</p>`;
  if (schema.enum) return html`<p>One of ${listOf(schema.enum)}.</p>`;
  return fieldTable(rowsOf(schema, ""));
}

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** Returns the fields of an object and of the objects in it that have no name of their own. */
function rowsOf({ properties = {}, required = [] }: Schema, prefix: string): Row[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = `${prefix}${key}`;
    const inner = schema.items && !isReference(schema.items) ? schema.items : schema;
    const nested = inner.properties ? rowsOf(inner, `${name}${inner === schema ? "." : "[]."}`) : [];
    return [{ name, schema, required: required.includes(key) }, ...nested];
  });
}

/** Returns a table of fields or parameters. */
export function fieldTable(rows: readonly Row[]): Html {
  if (rows.length === 0) return html``;
  return html`<div class="table"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.map(
    ({
      name,
      schema,
      required,
    }) => html`<tr><th scope="row"><code>${name}</code>${required && html` <span class="required">required</span>`}</th>
<td>${typeOf(schema)}</td><td>${meaningOf(schema)}</td></tr>
`,
  )}</tbody></table></div>`;
}

/** Returns the type of a schema. Named schemas are links. */
export function typeOf(schema: Schema): Html {
  if (isReference(schema)) return html`<a href="#schema-${nameIn(schema)}">${nameIn(schema)}</a>`;
  if (schema.items) return html`list of ${typeOf(schema.items)}`;
  const type = typeof schema.type === "string" ? schema.type : (schema.type?.join(" or ") ?? "any");
  return html`${schema.format ?? type}`;
}

function meaningOf(schema: Schema): Html {
  const limits = [
    schema.enum && html`One of ${listOf(schema.enum)}.`,
    schema.default !== undefined && html`Default <code>${String(schema.default)}</code>.`,
    schema.maximum !== undefined && html`${schema.minimum ?? 0} to ${schema.maximum}.`,
    schema.maxLength !== undefined && html`At most ${schema.maxLength} characters.`,
    schema.maxItems !== undefined && html`At most ${schema.maxItems}.`,
  ].filter((limit) => limit !== undefined && limit !== false);
  return html`${schema.description && inline(schema.description)} ${limits.map((limit) => html`${limit} `)}`;
}

function listOf(values: readonly unknown[]): Html[] {
  return values.map((value, at) => html`${at > 0 && ", "}<code>${String(value)}</code>`);
}
