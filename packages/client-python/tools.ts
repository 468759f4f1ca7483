import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOf } from "../../deploy/local/processes.ts";
import { type Cache, ensureFetched, fetchFromPyPi } from "../../deploy/local/servers/downloads.ts";
import { schemasOnly } from "../client/schemas.ts";

const here = import.meta.dirname;
/** The Python versions that the client supports. */
export const pythonVersions = ["3.10", "3.11", "3.12", "3.13"] as const;

/** A command with the libraries of a requirements file. */
type Run = (args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<{ code: number | null; output: string }>;

/**
 * Returns `python3` with the tools of requirements-tools.txt, and their folder, from the cache or, the first time, from PyPI;
 * or the reason why there is none.
 */
export async function pythonTools(cache: Cache): Promise<{ run: Run; folder: string } | { missing: string }> {
  const found = await runPython("python3")(["-c", "import sys, pip; print('%d.%d' % sys.version_info[:2])"]);
  const [, version] = /^3\.(\d+)$/.exec(found.output.trim()) ?? [];
  if (found.code !== 0 || Number(version) < 10) return { missing: "python3 with pip, 3.10 or newer, is not installed" };
  try {
    const folder = await fetched("requirements-tools.txt", `tools-3.${version}`, 90, cache);
    return { run: runPython("python3", folder), folder };
  } catch (error) {
    return { missing: `its tools could not be fetched: ${String(error).split("\n").at(-1)}` };
  }
}

/** Returns the interpreter of a Python version with the client's dependencies; undefined if this machine has none. */
export async function pythonOf(version: string, cache: Cache): Promise<Run | undefined> {
  const { code } = await runPython(`python${version}`)(["--version"], { PYENV_VERSION: version });
  if (code !== 0) return undefined;
  const libraries = await fetched("requirements.txt", `libraries-${version}`, 12, cache, ["--python-version", version]);
  const run = runPython(`python${version}`, libraries);
  // pyenv has its versions under one command.
  return (args, env) => run(args, { PYENV_VERSION: version, ...env });
}

/** Writes the models of the OpenAPI document's schemas into a file. Returns what is wrong, or undefined. */
export async function writeModels(run: Run, file: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "vvs-models-"));
  const input = join(folder, "openapi.json");
  try {
    writeFileSync(input, JSON.stringify(schemasOnly()));
    const language = ["--output-model-type", "typing.TypedDict", "--target-python-version", "3.10"];
    const style = ["--use-standard-collections", "--use-union-operator", "--formatters", "builtin"];
    const texts = ["--use-schema-description", "--use-field-description", "--use-single-line-docstring"];
    // Answers may have more fields than the document knows.
    const names = ["--naming-strategy", "parent-prefixed", "--no-use-closed-typed-dict"];
    const choice = ["--input-file-type", "openapi", "--disable-timestamp", ...language, ...style, ...texts, ...names];
    const { code, output } = await run([
      ...["-W", "ignore", "-m", "datamodel_code_generator"],
      ...["--input", input, "--output", file, ...choice],
    ]);
    return code === 0 ? undefined : output;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the folder in the cache with the libraries of a requirements file. `more` are further options of pip. */
function fetched(
  requirements: string,
  name: string,
  sizeMb: number,
  cache: Cache,
  more: readonly string[] = [],
): Promise<string> {
  const file = join(here, requirements);
  const hash = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 8);
  const fetch = (folder: string) => fetchFromPyPi([...more, "-r", file], folder);
  return ensureFetched(
    { folder: `client-python-${name}-${hash}`, title: `the Python client's ${name}`, sizeMb, needs: [], fetch },
    cache,
  );
}

/** Returns a function that runs an interpreter in this folder to its end; code 127 if there is no such interpreter. */
function runPython(command: string, libraries?: string): Run {
  return (args, env = {}) => {
    const PYTHONPATH = [env.PYTHONPATH, libraries].filter(Boolean).join(":");
    return outputOf([command, ...args], { cwd: here, env: { PYTHONDONTWRITEBYTECODE: "1", ...env, PYTHONPATH } });
  };
}
