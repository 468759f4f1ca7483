import { createHash } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { StartError } from "./start-error.ts";

/**
 * Locks a data folder against a second run: Redis would share it silently, Kafka would damage it. The lock is a
 * listening socket, so it ends with its process, and a reused pid cannot be mistaken for the owner.
 * Returns a function that releases it. Errors: StartError if another run holds it.
 */
export async function lockData(dataDir: string): Promise<() => Promise<void>> {
  // A socket's path may have at most 107 characters, and the folder's path may be longer.
  const name = createHash("sha256").update(resolve(dataDir)).digest("hex").slice(0, 16);
  const path = join(tmpdir(), `vvs-${process.getuid?.() ?? 0}-${name}.lock`);
  if (await answers(path)) throw new StartError(`Another run is using ${dataDir}: stop it first`);
  await rm(path, { force: true });
  const server = createServer((socket) => socket.destroy()).listen(path);
  await once(server, "listening");
  server.unref();
  return () => release(server);
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function release(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  await once(server, "close");
}
