import { once } from "node:events";
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** A test file, and jest's configurations of its project and of the run. */
export interface FileToRun {
  readonly path: string;
  readonly config: object;
  readonly globalConfig: object;
}

/** Jest's result of the file, or why there is none. */
export type FileOutcome =
  | { readonly result: object }
  | { readonly error: { readonly message: string; readonly stack: string } };

interface CircusResult {
  readonly perfStats: object;
  readonly testResults: readonly { readonly status: string }[];
}
type Circus = (
  globalConfig: object,
  config: object,
  environment: { readonly global: object },
  modules: ReturnType<typeof plainNode>,
  path: string,
) => Promise<CircusResult>;

/** Longer than Node's 10, so that a failure shows the test's own lines. */
const STACK_LINES = 100;

const require = createRequire(import.meta.url);
const runWithCircus: Circus = require("jest-circus/runner").default;

// The process of one test file: runs the file that its parent names, sends the outcome and ends.
process.once("disconnect", () => process.exit());
const [file] = (await once(process, "message")) as [FileToRun];
process.send!(await outcomeOf(file), () => process.exit());

async function outcomeOf(file: FileToRun): Promise<FileOutcome> {
  try {
    return { result: await run(file) };
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { error: { message, stack: stack ?? message } };
  }
}

async function run({ path, config, globalConfig }: FileToRun): Promise<object> {
  Error.stackTraceLimit = STACK_LINES;
  const globals = new URL("./globals.ts", import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "@jest/globals" ? { url: globals, shortCircuit: true } : next(specifier, context),
  });
  const start = Date.now();
  const result = await runWithCircus(globalConfig, config, { global: globalThis }, plainNode(), path);
  const end = Date.now();
  return {
    ...result,
    testFilePath: path,
    skipped: result.testResults.every(({ status }) => status === "pending"),
    perfStats: { ...result.perfStats, start, end, runtime: end - start, slow: end - start > 5_000 },
    // Its values need not be plain data; the messages show them.
    testResults: result.testResults.map((each) => ({ ...each, failureDetails: [] })),
  };
}

/** Node's modules as what jest-circus uses of jest's module system. */
function plainNode() {
  return {
    requireInternalModule: require,
    requireModule: require,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path: string) => import(pathToFileURL(path).href),
    setGlobalsForRuntime: () => undefined,
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
  };
}
