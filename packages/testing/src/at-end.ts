import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const closes: (() => unknown)[] = [];

/**
 * Calls `close` when the tests of the file are over, what was registered last first. Returns a function for a test that closes
 * earlier; `close` is called once.
 */
export function atEnd(close: () => unknown): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const closed = () => {
    closing ??= (async () => void (await close()))();
    return closing;
  };
  closes.push(closed);
  return closed;
}

/** Closes what was opened when the tests of the file are over; returns it. */
export function untilEnd<T extends { close(): unknown } | { stop(): unknown }>(opened: T): T {
  atEnd(() => ("close" in opened ? opened.close() : opened.stop()));
  return opened;
}

/** Returns a new folder, which exists until the tests of the file are over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "vvs-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Closes everything, for the runner of the tests. Errors: the last one; the others are closed nevertheless. */
export async function closeAll(): Promise<void> {
  const close = closes.pop();
  if (!close) return;
  try {
    await close();
  } finally {
    await closeAll();
  }
}
