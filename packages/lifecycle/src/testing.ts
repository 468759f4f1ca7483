// For this package's tests: runs a service in its own process.
import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)));
const register = join(packageFolder, "..", "telemetry", "src", "register.ts");

export type LogLine = Readonly<Record<string, unknown>>;

export interface TestService {
  readonly process: ChildProcess;
  readonly lines: readonly LogLine[];
  /** Resolves with the first line that has this message. Errors: the service ends without logging it. */
  logged(msg: string): Promise<LogLine>;
  readonly exit: Promise<{ code: number | null; stderr: string }>;
  /** Calls the admin port; the service must have logged "starting" before. */
  get(path: string): Promise<{ status: number; body: string }>;
}

/** Runs a service with this body of its start function; its configuration also has NUMBER and WORD. */
export function runTestService(body: string, environment: Readonly<Record<string, string>> = {}): TestService {
  const program = `
    import { count, loadConfig, serviceSection, z } from "@vvs/config";
    import { runService } from "@vvs/lifecycle";
    const schema = z.object({ ...serviceSection, NUMBER: count().default(1), WORD: z.string() });
    const load = () => loadConfig(schema, process.env);
    await runService("test", load, async ({ config, logger, onClose, stopping }) => {${body}});`;
  const args = ["--import", register, "--input-type=module", "--eval", program];
  const child = spawn(process.execPath, args, {
    cwd: packageFolder,
    env: {
      ADMIN_HOST: "127.0.0.1",
      ADMIN_PORT: "0",
      DRAIN_SECONDS: "0",
      WORD: "given",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });

  const lines: LogLine[] = [];
  let stderr = "";
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    lines.push(...parts.map((part) => JSON.parse(part) as LogLine));
    child.emit("lines");
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const exit = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, stderr })),
  );

  function logged(msg: string): Promise<LogLine> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const line = lines.find((candidate) => candidate.msg === msg);
        if (line) resolve(line);
      };
      child.on("lines", look);
      look();
      exit.then(() => reject(new Error(`the service ended without "${msg}": ${JSON.stringify(lines)} ${stderr}`)));
    });
  }

  return {
    process: child,
    lines,
    logged,
    exit,
    async get(path) {
      const { admin_port } = await logged("starting");
      const response = await fetch(`http://127.0.0.1:${admin_port}${path}`);
      return { status: response.status, body: await response.text() };
    },
  };
}
