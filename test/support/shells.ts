import { spawnSync } from "node:child_process";
import { installPackage } from "../../deploy/local/debian.ts";

const isInstalled = (shell: string) => spawnSync(shell, ["-c", ":"]).status === 0;

/** Returns why a shell can't be used, or undefined. It is installed where that is possible. */
export function whyNoShell(shell: string): string | undefined {
  if (isInstalled(shell)) return undefined;
  const problem = installPackage(shell);
  return isInstalled(shell) ? undefined : `${shell} is missing. ${problem}`;
}
