import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../deploy/image/run.ts";
import { projectRoot } from "../../deploy/local/services.ts";

/** Runs a command to its end; returns its standard output. Throws all it printed if the command fails or needs more than a minute. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const env = { ...process.env, npm_config_update_notifier: "false", ...options.env };
  return run(command, args, { cwd: options.cwd, env, signal: AbortSignal.timeout(60_000) });
}

/**
 * Packs the client and the command line with `npm pack` in a copy of the checkout in `folder`, because packing changes
 * their package.json for a moment. Returns the tarballs.
 */
export async function packClients(folder: string): Promise<readonly string[]> {
  const checkout = join(folder, "checkout");
  for (const name of ["client", "cli"]) {
    const source = join(projectRoot, "packages", name);
    const filter = (path: string) => !/\/(node_modules|dist)$/.test(path);
    cpSync(source, join(checkout, "packages", name), { recursive: true, filter });
    symlinkSync(join(source, "node_modules"), join(checkout, "packages", name, "node_modules"));
  }
  for (const name of ["deploy", "node_modules", "tsconfig.json"]) {
    symlinkSync(join(projectRoot, name), join(checkout, name));
  }
  const tarballs = join(folder, "tarballs");
  mkdirSync(tarballs);
  return Promise.all(
    ["client", "cli"].map(async (name) => {
      const cwd = join(checkout, "packages", name);
      const [tarball] = /\S+\.tgz\n/.exec(await runCommand("npm", ["pack", "--pack-destination", tarballs], { cwd }))!;
      return join(tarballs, tarball.trim());
    }),
  );
}

/** Installs the tarballs in an npm project. The command line's dependencies come from npm's cache, or else its registry. */
export async function installPacked(project: string, tarballs: readonly string[]): Promise<void> {
  const quiet = ["--prefer-offline", "--no-audit", "--no-fund"];
  await runCommand("npm", ["install", ...quiet, ...tarballs], { cwd: project });
}
