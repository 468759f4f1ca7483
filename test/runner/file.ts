import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { closeAll } from "../../packages/testing/src/at-end.ts";

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

// The process of some test files: runs each file that its parent names and sends the outcome, until the parent disconnects.
process.on("message", async (file: FileToRun) => void process.send!(await outcomeOf(file)));
// Tests may leave handles open, so the process would not end by itself.
process.once("disconnect", () =>
  Promise.all(process.listeners("beforeExit").map((close) => close(0))).finally(() => process.exit()),
);
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@jest/globals"
      ? { url: new URL("./globals.ts", import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
Error.stackTraceLimit = STACK_LINES;

async function outcomeOf(file: FileToRun): Promise<FileOutcome> {
  try {
    return { result: await run(file) };
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { error: { message, stack: stack ?? message } };
  }
}

async function run({ path, config, globalConfig }: FileToRun): Promise<object> {
  const start = Date.now();
  // Where no test is chosen, or the file can't be loaded, no hook closes what it has opened.
  const result = await runWithCircus(globalConfig, config, { global: globalThis }, plainNode(), path).finally(closeAll);
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

/** Loads jest-circus again for each file, because it keeps a file's tests in its module and in the global object. */
function freshly(path: string): unknown {
  delete require.cache[path];
  Reflect.deleteProperty(globalThis, Symbol.for("EVENT_HANDLERS"));
  return require(path);
}

/** Node's modules as what jest-circus uses of jest's module system. */
function plainNode() {
  return {
    requireInternalModule: freshly,
    requireModule: require,
    unstable_shouldLoadAsEsm: () => true,
    async unstable_importModule(path: string) {
      // Loaded only now that jest-circus has put its functions into the global object.
      const { registerClosing, registerHooksOfModules } = await import("./globals.ts");
      registerHooksOfModules();
      await import(pathToFileURL(path).href);
      registerClosing();
    },
    setGlobalsForRuntime: () => undefined,
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
  };
}
