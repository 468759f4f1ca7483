import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { productVersion } from "../config.ts";
import { openApiDocument, openApiText } from "./document.ts";

/** Writes the OpenAPI document to the file in the argument, or to docs/openapi.json. */
const file = process.argv[2] ?? join(import.meta.dirname, "../../../../docs/openapi.json");
writeFileSync(file, openApiText(openApiDocument(productVersion())));
