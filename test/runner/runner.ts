import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { FileOutcome, FileToRun } from "./file.ts";

const script = fileURLToPath(new URL("./file.ts", import.meta.url));

/** Projects whose files of a folder run one after the other in one process, which loads their modules once. */
const SHARING = ["unit", "charts"];
/** What a file does that changes the whole process for the files after it. */
const OWN_PROCESS = /recordTelemetry|NodeSDK|process\.env\.\w+ = /;
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
 * Jest's runner for these tests. Files run in Node processes, which load TypeScript as the services do. Jest's own runner loads
 * every module again for each file, in a node:vm context. That takes several times as long.
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
    const run = async (files: readonly TestFile[]) => {
      const running = fileProcess();
      for (const test of files) {
        if (watcher.isInterrupted()) break;
        await onStart(test);
        const { config } = test.context;
        const outcome = await running.run({ path: test.path, config, globalConfig: this.#globalConfig });
        await ("result" in outcome ? onResult(test, outcome.result) : onFailure(test, outcome.error));
      }
      await running.end();
    };
    const work = async (groups: TestFile[][]) => {
      for (let group = groups.shift(); group && !watcher.isInterrupted(); group = groups.shift()) await run(group);
    };
    const phases = Map.groupBy(tests, phaseOf);
    const groupsIn = (phase: Phase) => groupsOf(phases.get(phase) ?? []);
    const waiting = groupsIn("waiting");
    const busy = groupsIn("busy");
    const further = Array.from({ length: this.#globalConfig.maxWorkers - 1 }, () =>
      work(busy).then(() => work(waiting)),
    );
    await Promise.all([work(waiting).then(() => work(busy)), ...further]);
    await work(groupsIn("alone"));
  }
}

const projectOf = ({ context }: TestFile) => context.config.displayName?.name ?? "";

/** Whether the files of a project mostly wait, mostly compute, or must each run alone. */
type Phase = "waiting" | "busy" | "alone";

function phaseOf(test: TestFile): Phase {
  const project = projectOf(test);
  if (WAITING.includes(project)) return "waiting";
  return ALONE.includes(project) ? "alone" : "busy";
}

/** Returns the files that share a process, in the order of the first of each. */
function groupsOf(tests: readonly TestFile[]): TestFile[][] {
  const keyOf = (test: TestFile) =>
    SHARING.includes(projectOf(test)) && !OWN_PROCESS.test(readFileSync(test.path, "utf8"))
      ? dirname(test.path)
      : test.path;
  return [...Map.groupBy(tests, keyOf).values()];
}

/** A process for files that run one after the other. A file after one whose process died gets a new one. */
function fileProcess() {
  let child: ChildProcess | undefined;
  return {
    run(file: FileToRun): Promise<FileOutcome> {
      child ??= fork(script, { execArgv: [] });
      const running = child;
      return new Promise((resolve) => {
        const died = (code: number | null, signal: string | null) => {
          child = undefined;
          const message = `The process of ${file.path} ended with ${signal ?? `exit code ${code}`}.`;
          resolve({ error: { message, stack: message } });
        };
        running.once("exit", died);
        running.once("message", (outcome: FileOutcome) => {
          running.off("exit", died);
          resolve(outcome);
        });
        running.send(file);
      });
    },
    async end(): Promise<void> {
      if (!child) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}
