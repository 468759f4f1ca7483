// Runs a TypeScript command of this project with any Node >= 20, before anything is installed:
//   node deploy/bootstrap.mjs <script.ts> [arguments...]
// Installs the locked dependencies if they changed, then runs the command with the project's pinned Node version.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const PNPM = "pnpm@12.21.0";
// Without a terminal pnpm cannot ask, and would refuse to replace a node_modules of another layout.
const PURGE_UNASKED = "--config.confirmModulesPurge=false";
const OLDEST_NODE = 20;
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const stampFile = path.join(root, "node_modules", ".install-stamp");
const cacheDir = path.join(root, ".cache");

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** The package.json files of the workspace, as pnpm-workspace.yaml lists its folders (`name` or `name/*`). */
function manifests() {
  const yaml = fs.readFileSync(path.join(root, "pnpm-workspace.yaml"), "utf8");
  const block = /^packages:\n((?: +- .*\n)+)/m.exec(yaml);
  const globs = block
    ? block[1].split("\n").map((line) =>
        line
          .replace(/^ +- */, "")
          .replace(/["']/g, "")
          .trim(),
      )
    : [];
  const folders = globs.filter(Boolean).flatMap((glob) => {
    if (!glob.endsWith("/*")) return [glob];
    const parent = glob.slice(0, -2);
    return fs.existsSync(path.join(root, parent))
      ? fs.readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}`)
      : [];
  });
  return ["", ...folders]
    .map((folder) => path.join(root, folder, "package.json"))
    .filter((file) => fs.existsSync(file))
    .sort();
}

/** Returns a hash of everything that an install depends on. If it equals the last install's stamp, there is nothing to do. */
function wantedStamp() {
  const hash = createHash("sha256").update(`${PNPM} ${process.platform} ${process.arch}`);
  for (const file of [path.join(root, "pnpm-lock.yaml"), path.join(root, "pnpm-workspace.yaml"), ...manifests()]) {
    hash.update(`\0${path.relative(root, file)}\0`).update(fs.readFileSync(file));
  }
  return hash.digest("hex");
}

function installed(stamp) {
  return fs.existsSync(stampFile) && fs.readFileSync(stampFile, "utf8") === stamp && runtime() !== undefined;
}

/** Returns the binary of the pinned Node behind its links, so that signals reach the script and the pid is its own. */
function runtime() {
  const link = path.join(root, "node_modules", ".bin", "node");
  return fs.existsSync(link) ? fs.realpathSync(link) : undefined;
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Takes the lock. Returns false while a live process holds it. Removes the lock of a killed process. */
function tookLock(lock) {
  const own = `${lock}.${process.pid}`;
  fs.writeFileSync(own, String(process.pid));
  try {
    // A link appears with its content or not at all, so a lock always names its holder.
    fs.linkSync(own, lock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  } finally {
    fs.rmSync(own, { force: true });
  }
  try {
    if (!alive(Number(fs.readFileSync(lock, "utf8")))) fs.rmSync(lock, { force: true });
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  return false;
}

/** Runs the work under a lock, so that commands started at the same time install one after the other. */
async function withInstallLock(work) {
  const lock = path.join(cacheDir, "install.lock");
  fs.mkdirSync(cacheDir, { recursive: true });
  while (!tookLock(lock)) await new Promise((resolve) => setTimeout(resolve, 200));
  const release = () => fs.rmSync(lock, { force: true });
  process.once("exit", release);
  try {
    await work();
  } finally {
    release();
    process.off("exit", release);
  }
}

function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options);
    for (const signal of ["SIGTERM", "SIGHUP"]) process.once(signal, () => child.kill(signal));
    process.once("SIGINT", () => {});
    child.once("error", (error) => resolve({ code: 1, error }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

async function install(stamp) {
  const logFile = path.join(cacheDir, "install.log");
  const log = fs.openSync(logFile, "w");
  const startedAt = Date.now();
  process.stderr.write("Installing dependencies (the first time takes a minute) ...\n");
  const result = await run("npx", ["--yes", PNPM, "install", "--frozen-lockfile", PURGE_UNASKED], {
    cwd: root,
    stdio: ["ignore", log, log],
  });
  fs.closeSync(log);
  if (result.error)
    refuse("Dependencies could not be installed: npx was not found; install npm, which is part of Node.");
  if (result.signal || result.code === 130 || result.code === 143) process.exit(130);
  if (result.code !== 0 || !runtime()) {
    refuse(`Dependencies could not be installed (${installFault(logFile)}); the whole output is in ${logFile}.`);
  }
  fs.writeFileSync(stampFile, stamp);
  process.stderr.write(`Dependencies installed in ${((Date.now() - startedAt) / 1000).toFixed(0)} s.\n`);
}

/** Returns the cause of a failed install, from its log, as one clause. */
function installFault(logFile) {
  const text = fs.readFileSync(logFile, "utf8");
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ECONNRESET/.test(text)) {
    return "the npm registry cannot be reached: check the network or the proxy settings";
  }
  if (text.includes("ERR_PNPM_OUTDATED_LOCKFILE"))
    return `pnpm-lock.yaml lacks a dependency of a package.json: run npx ${PNPM} install`;
  const line = text.split("\n").find((candidate) => /ERR_PNPM|npm (ERR!|error)|ENOSPC|EACCES/.test(candidate));
  return line ? line.trim().slice(0, 200) : "the installer failed";
}

/** Runs the script in the foreground and exits with its exit code. */
function handOver(script, args) {
  const bin = path.join(root, "node_modules", ".bin");
  const child = spawn(runtime(), [path.resolve(root, script), ...args], {
    stdio: "inherit",
    env: {
      ...process.env,
      PATH: `${bin}${path.delimiter}${process.env.PATH || ""}`,
      NODE_COMPILE_CACHE: path.join(cacheDir, "compile"),
    },
  });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // A terminal also sends Ctrl-C to the script, so this process only waits for it to end.
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  child.once("error", () => refuse(`${script} could not be started: the Node in node_modules does not run here.`));
  child.once("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
}

async function main() {
  if (Number(process.versions.node.split(".")[0]) < OLDEST_NODE) {
    refuse(`This project needs Node ${OLDEST_NODE} or newer; this is Node ${process.versions.node}.`);
  }
  const [script, ...args] = process.argv.slice(2);
  if (!script) refuse("Usage: node deploy/bootstrap.mjs <script.ts> [arguments...]");
  if (!installed(wantedStamp())) {
    await withInstallLock(async () => {
      const stamp = wantedStamp();
      if (!installed(stamp)) await install(stamp);
    });
  }
  handOver(script, args);
}

main().catch((error) => refuse(`The dependencies could not be prepared: ${error.message}.`));
