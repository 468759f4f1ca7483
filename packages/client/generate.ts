import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import { schemasOnly } from "./schemas.ts";

/** Writes the types of the OpenAPI document's schemas into the folder in the argument, or into src/generated. */
await createClient({
  input: schemasOnly(),
  output: { path: process.argv[2] ?? join(import.meta.dirname, "src/generated"), entryFile: false },
  plugins: ["@hey-api/typescript"],
  logs: { level: "silent" },
});
