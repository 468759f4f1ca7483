import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { StartError } from "./start-error.ts";

/** Below the ports of outgoing connections (from 32768 on Linux, 49152 elsewhere). */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
const TRIES = 100;

/** This process takes one port after the other from a random one on, so that concurrent runs rarely choose the same. */
let next = randomInt(FIRST_PORT, LAST_PORT);

/**
 * Returns a TCP port of 127.0.0.1 on which nothing listens, another one at each call. It is outside the range of outgoing
 * connections, so none can take it before the caller listens.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = next;
    next = port < LAST_PORT ? port + 1 : FIRST_PORT;
    const isFree = await listenOnce(port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
  throw new StartError(`No port between ${FIRST_PORT} and ${LAST_PORT} is free`);
}

/** Checks that a port of 127.0.0.1 is free. Errors: StartError with this message if it is in use. */
export async function requireFree(port: number, message: string): Promise<void> {
  await listenOnce(port).catch((cause: unknown) => {
    throw new StartError(message, { cause });
  });
}

async function listenOnce(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
