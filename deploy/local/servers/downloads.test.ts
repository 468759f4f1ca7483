import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { outputOf } from "../processes.ts";
import { type Download, ensureFetched, fetchFromPyPi, fetchNeeds, pom } from "./downloads.ts";

let cacheDir: string;

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), "downloads-"));
});

afterEach(() => rm(cacheDir, { recursive: true }));

const log = () => {};

function download(fetch: Download["fetch"]): Download {
  return { folder: "tool-1.0", title: "Tool", sizeMb: 1, needs: ["python"], fetch };
}

test("a download is fetched once and then found in the cache", async () => {
  let fetches = 0;
  const tool = download(async (folder) => {
    fetches++;
    await writeFile(join(folder, "tool"), "program");
  });
  expect(await fetchNeeds(tool, cacheDir)).toEqual(["python"]);
  await ensureFetched(tool, { cacheDir, log });
  const folder = await ensureFetched(tool, { cacheDir, log });
  expect(await readFile(join(folder, "tool"), "utf8")).toBe("program");
  expect(fetches).toBe(1);
  expect(await fetchNeeds(tool, cacheDir)).toEqual([]);
});

test("concurrent runs that fetch the same download end with one complete copy", async () => {
  const tool = download((folder) => writeFile(join(folder, "tool"), "program"));
  const folders = await Promise.all([1, 2, 3].map(() => ensureFetched(tool, { cacheDir, log })));
  expect(new Set(folders)).toEqual(new Set([join(cacheDir, "tool-1.0")]));
  expect(await readdir(join(cacheDir, "tool-1.0"))).toEqual(["tool"]);
  expect(await readdir(join(cacheDir, ".partial"))).toEqual([]);
});

test("a failed fetch leaves nothing in the cache", async () => {
  const tool = download(async (folder) => {
    await writeFile(join(folder, "half"), "");
    throw new Error("the network failed");
  });
  await expect(ensureFetched(tool, { cacheDir, log })).rejects.toThrow("the network failed");
  expect(await fetchNeeds(tool, cacheDir)).toEqual(["python"]);
  expect(await readdir(join(cacheDir, ".partial"))).toEqual([]);
});

test("installing from PyPI asks for no change of the machine's commands, and a failure says the last line", async () => {
  const shim = join(cacheDir, "python3");
  const real = (await outputOf(["python3", "-c", "import sys; print(sys.executable)"])).output;
  const script = `case " $* " in *" -m pip "*) echo 'cannot rehash' >&2; exit 1;; esac\nexec "${real}" "$@"\n`;
  await writeFile(shim, `#!/bin/sh\n${script}`, { mode: 0o755 });
  await writeFile(join(cacheDir, "nothing.txt"), "");
  const { PATH } = process.env;
  process.env.PATH = `${cacheDir}:${PATH}`;
  try {
    await fetchFromPyPi(["-r", join(cacheDir, "nothing.txt")], join(cacheDir, "libraries"));
    await writeFile(shim, "#!/bin/sh\necho 'cannot rehash' >&2; exit 1\n");
    await expect(fetchFromPyPi(["tool"], join(cacheDir, "libraries"))).rejects.toThrow(
      'tool could not be fetched from PyPI ("cannot rehash")',
    );
  } finally {
    process.env.PATH = PATH;
  }
});

test("a Maven project lists its artifacts as dependencies", () => {
  expect(pom(["org.apache.kafka:kafka_2.13:4.1.0"])).toContain(
    "<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.1.0</version>",
  );
});
