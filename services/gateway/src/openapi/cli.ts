import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { productVersion } from "../config.ts";
import type { Document } from "../reference/document.ts";
import { postmanCollection } from "../reference/postman.ts";
import { openApiDocument, openApiText } from "./document.ts";

/** Writes the OpenAPI document and the Postman collection, with the address of the local run, to the folder in the argument, or to docs. */
const [folder = join(import.meta.dirname, "../../../../docs")] = process.argv.slice(2);
const baseUrl = "http://127.0.0.1:8080";
const document: object = openApiDocument(productVersion(), baseUrl);
const collection = postmanCollection(document as Document, baseUrl);
for (const [name, content] of Object.entries({ openapi: document, postman: collection })) {
  writeFileSync(join(folder, `${name}.json`), openApiText(content));
}
