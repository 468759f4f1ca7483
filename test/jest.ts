import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs jest; returns its exit code. */
export function runJest(args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, "node_modules/jest/bin/jest.js"), ...args], {
      cwd: root,
      stdio: "inherit",
    });
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    process.on("SIGINT", () => undefined);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

if (import.meta.main) process.exitCode = await runJest(process.argv.slice(2));
