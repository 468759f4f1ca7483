import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FileOutcome, FileToRun } from "./file.ts";

const script = fileURLToPath(new URL("./file.ts", import.meta.url));

/** Projects whose files mostly wait. While files of other projects are left, one of these runs at a time. */
const WAITING = ["fuzz", "processes"];
/** Projects whose files run one at a time, after all others have ended. */
const ALONE = ["alone"];

/** What this runner uses of jest's description of a test file. */
interface TestFile {
  readonly path: string;
  readonly context: { readonly config: { readonly displayName?: { readonly name: string } } };
}

type Listener<Arguments extends unknown[]> = (test: TestFile, ...given: Arguments) => Promise<void>;

/**
 * Jest's runner for these tests. Each file runs in a Node process of its own, which loads TypeScript as the services do. Jest's
 * own runner loads each module anew for each file, in a context of node:vm, which takes several times longer.
 */
export default class NodeRunner {
  readonly #globalConfig: { readonly maxWorkers: number };

  constructor(globalConfig: { readonly maxWorkers: number }) {
    this.#globalConfig = globalConfig;
  }

  async runTests(
    tests: readonly TestFile[],
    watcher: { isInterrupted(): boolean },
    onStart: Listener<[]>,
    onResult: Listener<[result: object]>,
    onFailure: Listener<[error: object]>,
  ): Promise<void> {
    const run = async (test: TestFile) => {
      await onStart(test);
      const outcome = await runFile({ path: test.path, config: test.context.config, globalConfig: this.#globalConfig });
      await ("result" in outcome ? onResult(test, outcome.result) : onFailure(test, outcome.error));
    };
    const work = async (files: TestFile[]) => {
      for (let test = files.shift(); test && !watcher.isInterrupted(); test = files.shift()) await run(test);
    };
    const of = (projects: readonly string[]) =>
      tests.filter(({ context }) => projects.includes(context.config.displayName?.name ?? ""));
    const [waiting, alone] = [of(WAITING), of(ALONE)];
    const others = tests.filter((test) => !waiting.includes(test) && !alone.includes(test));
    const further = Array.from({ length: this.#globalConfig.maxWorkers - 1 }, () =>
      work(others).then(() => work(waiting)),
    );
    await Promise.all([work(waiting).then(() => work(others)), ...further]);
    await work(alone);
  }
}

function runFile(file: FileToRun): Promise<FileOutcome> {
  return new Promise((resolve) => {
    const child: ChildProcess = fork(script, { execArgv: [] });
    child.once("message", (outcome: FileOutcome) => resolve(outcome));
    child.once("exit", (code, signal) => {
      const message = `The process of ${file.path} ended with ${signal ?? `exit code ${code}`}.`;
      resolve({ error: { message, stack: message } });
    });
    child.send(file);
  });
}
