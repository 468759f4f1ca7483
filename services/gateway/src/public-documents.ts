import { type Prepared, prepare } from "./http/prepared.ts";
import { openApiDocument, openApiText } from "./openapi/document.ts";
import { reference } from "./reference/serve.ts";

/** Returns what everyone may read without an API key, by path: the OpenAPI document and the reference page. */
export function publicDocuments(version: string, publicBaseUrl: string): ReadonlyMap<string, Prepared> {
  const document = openApiDocument(version);
  return new Map([
    ["/v1/openapi.json", prepare(openApiText(document), "application/json")],
    ...reference(document, publicBaseUrl),
  ]);
}
