import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type RunningProcess, runProcess } from "../processes.ts";
import { lastLines } from "../service-logs.ts";
import { freePort, requireFree } from "./free-port.ts";
import { StartError } from "./start-error.ts";

export type ServerOptions = {
  /** The server's folder with its data and log. A later run can use it with another port. */
  dataDir: string;
  /** Folder of downloaded programs, shared by all runs. */
  cacheDir: string;
  /** Default: a free port. */
  port?: number;
  log: (line: string) => void;
};

export type ManagedServer = { port: number; pid: number; stop: () => Promise<void> };

type Launch = {
  name: string;
  options: ServerOptions;
  command: (port: number) => Promise<{ command: string; args: string[] }>;
  /** Calls the server; throws while it is not ready. */
  probe: (port: number) => Promise<void>;
  readyWithinMs?: number;
};

/** Long enough for a busy machine: there Kafka took over a minute. */
const READY_WITHIN_MS = 180_000;
/** If Kafka is killed earlier, it must recover its logs at the next start. */
const STOP_GRACE_MS = 30_000;
const PROBE_EVERY_MS = 50;
const ATTEMPTS = 3;
const RETRY_AFTER_MS = 1_000;
const LAST_LINES = 20;
const LINE_LENGTH = 300;

/**
 * Starts a server and returns when it answers. A server that ends immediately is started again: another process may have
 * taken its port, or a run killed a moment ago may still hold its data. Errors: StartError that names the log file.
 */
export async function launch(server: Launch): Promise<ManagedServer> {
  const { name, options } = server;
  await mkdir(options.dataDir, { recursive: true });
  const startedAt = Date.now();
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    await requireFree(port, `Port ${port}, wanted for ${name}, is in use`);
    const running = await attemptStart(server, port);
    if (running) {
      options.log(`${name} is ready on 127.0.0.1:${port} (${((Date.now() - startedAt) / 1000).toFixed(1)} s).`);
      return { port, pid: running.pid, stop: reportEnd(server, running) };
    }
    if (attempt === ATTEMPTS) throw new StartError(`${name} ended while it started; see its log ${logFileOf(options)}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
  }
}

/** Returns the function that stops the server. If it ends before, says so with the end of its log, which may be removed. */
function reportEnd({ name, options }: Launch, running: RunningProcess): () => Promise<void> {
  let isStopping = false;
  void running.exited.then(({ signal, code }) => {
    if (isStopping) return;
    const lines = lastLines(logFileOf(options), LAST_LINES);
    const end = lines.map((line) => `\n  ${line.slice(0, LINE_LENGTH)}`).join("");
    options.log(`${name} has ended (${signal ?? `exit code ${code}`}). The end of its log:${end}`);
  });
  return () => {
    isStopping = true;
    return running.stop(STOP_GRACE_MS);
  };
}

function logFileOf(options: ServerOptions): string {
  return join(options.dataDir, "server.log");
}

/** Returns the server when it answers; undefined if it ended before. */
async function attemptStart(server: Launch, port: number): Promise<RunningProcess | undefined> {
  const { name, options, command, probe, readyWithinMs = READY_WITHIN_MS } = server;
  const cwd = options.dataDir;
  const running = runProcess({ name, ...(await command(port)), cwd, logFile: logFileOf(options) });
  let ended = false;
  running.exited.then(() => {
    ended = true;
  });
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    const fault = await probe(port).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (ended) return undefined;
    if (fault === undefined) return running;
    if (Date.now() > deadline) {
      await running.stop(2_000);
      const text = `${name} did not answer within ${readyWithinMs / 1000} s; see its log ${logFileOf(options)}`;
      throw new StartError(text, { cause: fault.error });
    }
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
}
