import { join } from "node:path";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { pythonTools, writeModels } from "./tools.ts";

/** Writes the models of the Python client. Without Python they stay as they are, and the check fails if they are old. */
const tools = await pythonTools({ cacheDir: serverCacheDir(process.env), log: console.error });
if ("missing" in tools) console.error(`The models of the Python client were not generated: ${tools.missing}.`);
else {
  const problem = await writeModels(tools.run, join(import.meta.dirname, "src/vendor_verification/models.py"));
  if (problem) throw new Error(problem);
}
