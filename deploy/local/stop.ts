import { join } from "node:path";
import { localDirectory } from "./local-dir.ts";
import { isAlive, livingRun } from "./run-file.ts";

/** Services end one after the other, then the servers. */
const LONGEST_MS = 120_000;

const pid = livingRun(join(localDirectory(process.env), "run.json"));
if (pid === undefined) {
  console.log("Nothing is running.");
} else {
  process.kill(pid, "SIGTERM");
  const deadline = Date.now() + LONGEST_MS;
  while (isAlive(pid) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 100));
  // Its servers and services end with it, even if it is killed.
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
  console.log("Stopped.");
}
