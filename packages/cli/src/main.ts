#!/usr/bin/env node
import { runCli } from "./cli.ts";
import { processEnvironment } from "./config.ts";

const interrupted = new AbortController();
// The second Ctrl-C ends the program immediately.
process.once("SIGINT", () => interrupted.abort());
process.once("SIGTERM", () => interrupted.abort());

// A reader that has seen enough, such as head, closes the pipe.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 70));

const { stdin, stdout, stderr } = process;
const signal = interrupted.signal;
process.exitCode = await runCli(process.argv.slice(2), { env: processEnvironment, stdin, stdout, stderr, signal });
// stdin keeps the process alive if something was read from it.
stdin.unref?.();
