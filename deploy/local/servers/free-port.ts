import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { StartError } from "./start-error.ts";

/** Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere). */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
const TRIES = 100;

/**
 * A TCP port of 127.0.0.1 that nothing listened on a moment ago. It is none that a connection could be given before
 * whoever asked listens on it, and a random one, so that several runs at once hardly meet.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const isFree = await listenOnce(port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
  throw new StartError(`No port between ${FIRST_PORT} and ${LAST_PORT} is free`);
}

/** Throws a `StartError` when something listens on the port of 127.0.0.1 that `name` is to have. */
export async function requireFree(port: number, name: string): Promise<void> {
  await listenOnce(port).catch((cause: unknown) => {
    throw new StartError(`Port ${port}, wanted for ${name}, is in use`, { cause });
  });
}

async function listenOnce(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
