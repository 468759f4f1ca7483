import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { SASLOptions } from "kafkajs";

/** How a client signs in to the brokers. */
export type Sasl =
  | {
      readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
      readonly username: string;
      readonly password: string;
    }
  | { readonly mechanism: "oauthbearer"; readonly token: TokenSource };

/** Where a bearer token comes from: a file that something else keeps current, or the output of a command of the shell. */
export type TokenSource = { readonly path: string } | { readonly command: string };

/** Maximum time of the command, in milliseconds: connecting waits for it. */
const COMMAND_MS = 10_000;
const run = promisify(execFile);

/** Returns the options of the library. Tokens are read again for each connection, and when the broker asks for a new one. */
export function librarySasl(sasl: Sasl): SASLOptions {
  if (sasl.mechanism !== "oauthbearer") return sasl as SASLOptions;
  return { mechanism: "oauthbearer", oauthBearerProvider: createTokenReader(sasl.token) };
}

/**
 * Returns a function that reads the token. Calls at the same time share one reading. Errors: the file can't be read, the
 * command fails, or either is empty.
 */
function createTokenReader(source: TokenSource): () => Promise<{ value: string }> {
  let reading: Promise<{ value: string }> | undefined;
  const read = async () => {
    const text = "path" in source ? await readFile(source.path, "utf8") : await outputOf(source.command);
    const value = text.trim();
    if (value === "") throw new Error("the token for Kafka is empty");
    return { value };
  };
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

async function outputOf(command: string): Promise<string> {
  try {
    return (await run("/bin/sh", ["-c", command], { timeout: COMMAND_MS })).stdout;
  } catch (error) {
    // The error of the child process holds its output, which may be a token.
    const { code, signal } = error as { code?: number | string; signal?: string };
    throw new Error(`the command for Kafka's token ended with ${signal ?? code}`);
  }
}
