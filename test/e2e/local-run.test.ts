import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "@jest/globals";
import { eventually, temporaryFolder } from "@vvs/testing";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { createApi } from "../support/api.ts";

const localDir = temporaryFolder();
const fixtures = join(projectRoot, "test/fixtures/sam");

const { MONGODB_URI: _m, KAFKA_BROKERS: _k, REDIS_URL: _r, ...others } = process.env;
const env = {
  ...others,
  VVS_LOCAL_DIR: localDir,
  API_PORT: String(await freePort()),
  DASHBOARD_PORT: String(await freePort()),
};

afterAll(() => run("deploy/local/stop.ts"));

/** Runs one of the commands and waits for its end. */
async function run(script: string, args: readonly string[] = [], more: NodeJS.ProcessEnv = {}) {
  const command = spawn(process.execPath, ["deploy/bootstrap.mjs", script, ...args], {
    cwd: projectRoot,
    env: { ...env, ...more },
    timeout: 150_000,
  });
  const exit = new Promise<number | null>((resolve) => command.once("exit", resolve));
  const [stdout, stderr, code] = await Promise.all([text(command.stdout), text(command.stderr), exit]);
  return { code, text: `${stdout}${stderr}` };
}

const start = (args: string[] = [], more: NodeJS.ProcessEnv = {}) =>
  run("deploy/local/start.ts", ["--detach", ...args], more);
const demo = () => JSON.parse(readFileSync(join(localDir, "demo.json"), "utf8"));
const supervisor = () => JSON.parse(readFileSync(join(localDir, "run.json"), "utf8")).pid as number;

function alive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

/** Returns a process and all its descendants. */
function family(root: number): number[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" });
  const pairs = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const found = [root];
  for (const pid of found) found.push(...pairs.filter(([, parent]) => parent === pid).map(([child]) => child));
  return found;
}

function commandOf(pid: number): string {
  return spawnSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}

const noneLeft = (pids: readonly number[]) => eventually(() => !pids.some(alive), { timeoutMs: 30_000, everyMs: 200 });

describe("npm start", () => {
  test("runs the whole product, prints how to use it, keeps its data, and leaves nothing behind when stopped or interrupted", async () => {
    const started = await start([
      "--registry",
      join(fixtures, "registry.dat"),
      "--exclusions",
      join(fixtures, "exclusions.csv"),
    ]);
    expect([started.code, started.text]).toEqual([0, expect.stringContaining("curl -s http://")]);
    expect(statSync(join(localDir, "demo.json")).mode & 0o777).toBe(0o600);
    const { base_url, organizations } = demo();
    expect(organizations.map(({ plan }: { plan: string }) => plan)).toEqual(["growth", "starter"]);
    const live = createApi(base_url, organizations[0].live_key);
    const lookUp = { identifiers: { uei: "ZZNRTHWND001" } };
    const { body: entity } = await live.post("/v1/entities/lookup", lookUp);
    expect(entity.sam_gov.registration_status).toBe("active");
    expect((await live.get("/v1/entities")).headers.get("x-ratelimit-limit")).toBe("500");

    expect(await start()).toEqual({ code: 1, text: expect.stringContaining("npm run stop") });

    const gateway = () => family(supervisor()).find((pid) => commandOf(pid).includes("services/gateway/src/main.ts"))!;
    const killed = gateway();
    process.kill(killed, "SIGKILL");
    await eventually(async () => {
      const health = await fetch(`${base_url}/v1/health`).catch(() => undefined);
      return health?.ok && gateway() !== killed;
    });

    const processes = family(supervisor());
    expect(processes.length).toBeGreaterThan(11);
    expect(await run("deploy/local/stop.ts")).toEqual({ code: 0, text: "Stopped.\n" });
    await noneLeft(processes);
    expect(() => demo()).toThrow();
    expect(await run("deploy/local/stop.ts")).toEqual({ code: 0, text: "Nothing is running.\n" });

    // With a refused file nothing starts, and the data loaded before stays unchanged.
    const refused = await start(["--registry", join(fixtures, "truncated.dat")]);
    expect(refused.code).toBe(1);
    expect(refused.text).toMatch(/895,?932/);
    const attached = spawn(process.execPath, ["deploy/bootstrap.mjs", "deploy/local/start.ts"], {
      cwd: projectRoot,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let printed = "";
    attached.stderr.on("data", (chunk) => (printed += chunk));
    await eventually(() => printed.includes("is ready.\n") && printed.includes("curl"), { timeoutMs: 120_000 });
    const again = createApi(base_url, demo().organizations[0].live_key);
    expect((await again.post("/v1/entities/lookup", lookUp)).body).toEqual(entity);
    expect((await again.get(`/v1/entities/${entity.id}/snapshots`)).body.snapshots).toHaveLength(1);

    const interrupted = family(attached.pid!);
    // Ctrl-C. That nothing outlives a kill -9 is tested with processes.ts.
    attached.kill("SIGINT");
    expect(await new Promise((resolve) => attached.once("exit", resolve))).toBe(0);
    await noneLeft(interrupted);
  }, 300_000);

  test("says what is wrong in one sentence and starts nothing", async () => {
    const busy = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => busy.once("listening", resolve));
    const { port } = busy.address() as { port: number };
    const closed = await freePort();
    const refusals = [
      [{ API_PORT: String(port) }, [], new RegExp(`^Port ${port} is in use.*API_PORT`, "m")],
      [{ API_PORT: "many" }, [], /^API_PORT must be a port/m],
      [{}, ["--registry", "/nowhere.dat"], /^--registry: \/nowhere.dat does not exist/m],
      [{}, ["--registri", "x"], /Unknown option '--registri'/],
      [{ MONGODB_URI: "postgres://db" }, [], /^MONGODB_URI must begin with/m],
      [
        { MONGODB_URI: `mongodb://user:secret@127.0.0.1:${closed}/` },
        [],
        /^MONGODB_URI \(mongodb:\/\/\*\*\*@127.0.0.1:\d+\/?\)/m,
      ],
      [{ KAFKA_BROKERS: `127.0.0.1:${closed}` }, [], /^KAFKA_BROKERS: 127.0.0.1:\d+ /m],
      [{ REDIS_URL: `redis://127.0.0.1:${closed}` }, [], /^REDIS_URL /m],
    ] as const;
    const results = await Promise.all(
      refusals.map(async ([more, args], index) => {
        const folder = join(localDir, String(index));
        // A start listens on its ports for a moment, so starts at the same time need ports of their own.
        const ports = { API_PORT: String(await freePort()), DASHBOARD_PORT: String(await freePort()) };
        const { code, text } = await run("deploy/local/start.ts", args, { VVS_LOCAL_DIR: folder, ...ports, ...more });
        return { code, text, isRunning: existsSync(join(folder, "run.json")) };
      }),
    );
    for (const [index, [, , sentence]] of refusals.entries()) {
      expect(results[index]).toEqual({ code: 1, text: expect.stringMatching(sentence), isRunning: false });
      expect(results[index]!.text).not.toMatch(/secret|\n\s+at /);
    }
    busy.close();
  }, 200_000);
});
