import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TIMEOUT_MS = 10 * 60_000;

/** Returns the command that installs one of Debian's packages. */
export const installCommand = (name: string): string =>
  `apt-get update && apt-get install -y --no-install-recommends ${name}`;

/** Installs one of Debian's packages, where this is Debian or Ubuntu and the user is root. Returns the problem, or undefined. */
export function installPackage(name: string): string | undefined {
  if (!existsSync("/etc/debian_version")) return "Automatic installation works only on Debian and Ubuntu.";
  if (process.getuid?.() !== 0) return "This user is not root, so it was not installed.";
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // apt-get refuses to run twice at the same time.
  const args = [join(tmpdir(), "vvs-apt-get.lock"), "/bin/sh", "-c", installCommand(name)];
  const run = spawnSync("/usr/bin/flock", args, { env, encoding: "utf8", timeout: TIMEOUT_MS });
  if (run.status === 0) return undefined;
  return `The installation failed: ${(run.stderr || run.error?.message || "").trim().split("\n").at(-1)}`;
}
