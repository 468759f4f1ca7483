import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/**
 * Starts a TypeScript file with Node as an operator does: of this process's variables it has only PATH and the place of compiled
 * code. `ended` resolves when it has ended; its code is null if a signal ended it.
 */
export function startScript(
  file: string,
  args: readonly string[],
  { env, stdin = "", cwd }: { env?: NodeJS.ProcessEnv; stdin?: string; cwd?: string } = {},
) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [file, ...args], { cwd, env: { PATH, NODE_COMPILE_CACHE, ...env } });
  child.stdin.end(stdin);
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]).then(
    ([stdout, stderr, [code]]) => ({ code: code as number | null, stdout, stderr }),
  );
  return { child, ended };
}
