import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { lockData } from "./data-lock.ts";
import { freePort } from "./free-port.ts";
import { launch } from "./managed.ts";
import { StartError } from "./start-error.ts";

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "managed-"));
});

afterEach(() => rm(dataDir, { recursive: true }));

function launchShell(script: string, port?: number, log: (line: string) => void = () => {}) {
  return launch({
    name: "Shell",
    options: { dataDir, cacheDir: dataDir, port, log },
    command: async () => ({ command: "sh", args: ["-c", script] }),
    probe: async () => {
      if (!(await readFile(join(dataDir, "server.log"), "utf8")).includes("ready")) throw new Error("not ready");
    },
  });
}

test("a server that ends while it starts is reported with its log file", async () => {
  const start = launchShell("echo cannot; exit 1");
  await expect(start).rejects.toThrow(StartError);
  await expect(start).rejects.toThrow(`Shell ended while it started; see its log ${join(dataDir, "server.log")}`);
  expect(await readFile(join(dataDir, "server.log"), "utf8")).toContain("cannot");
});

test("a server that ends immediately is started again", async () => {
  const server = await launchShell("[ -e tried ] || { touch tried; exit 1; }; echo ready; exec sleep 1000");
  await server.stop();
});

test("a server that ends by itself is reported with the end of its log, one that is stopped is not", async () => {
  const reports: string[] = [];
  const reported = Promise.withResolvers<void>();
  const log = (line: string) => {
    if (!line.includes("ended")) return;
    reports.push(line);
    reported.resolve();
  };
  const stopped = await launchShell("echo ready; exec sleep 1000", undefined, log);
  await stopped.stop();
  await launchShell("echo ready; until [ -e go ]; do sleep 0.05; done; echo no files; exit 14", undefined, log);
  await writeFile(join(dataDir, "go"), "");
  await reported.promise;
  expect(reports).toEqual(["Shell has ended (exit code 14). The end of its log:\n  ready\n  ready\n  no files"]);
});

test("a port in use is reported before the server starts", async () => {
  const other = createServer().listen(await freePort(), "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  await expect(launchShell("echo ready", port)).rejects.toThrow(`Port ${port}, wanted for Shell, is in use`);
  other.close();
});

test("only one run at a time can use a data folder, and the next one can use it afterwards", async () => {
  const unlock = await lockData(dataDir);
  await expect(lockData(dataDir)).rejects.toThrow(`Another run is using ${dataDir}`);
  await unlock();
  await unlock();
  await (await lockData(dataDir))();
});
