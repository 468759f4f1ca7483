import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { productVersion } from "../config.ts";
import { exactDocument, openApiDocument, openApiText } from "./document.ts";

/** Writes the OpenAPI document, with the address of the local run, to the file in the argument, or to docs/openapi.json; with `--exact URL` the exact one. */
const [file = join(import.meta.dirname, "../../../../docs/openapi.json"), exact, baseUrl] = process.argv.slice(2);
const document =
  exact === "--exact"
    ? exactDocument(productVersion(), baseUrl!)
    : openApiDocument(productVersion(), "http://127.0.0.1:8080");
writeFileSync(file, openApiText(document));
