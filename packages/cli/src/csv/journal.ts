import { createHash, randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Verification, VerifyRequest } from "@vendor-verification/client";
import type { Check, Mode } from "../checks.ts";
import { UsageError } from "../exit-codes.ts";

/** What became of a vendor: a verification, or the reason why the service refused it. */
export type Outcome =
  | { readonly verification: Verification }
  | { readonly refusal: { readonly code: string; readonly message: string } };

/** What all rows of a run have in common. A run can only be continued with the same. */
export interface RunIdentity {
  readonly base_url: string;
  readonly environment: "live" | "sandbox";
  readonly checks: readonly Check[];
  readonly mode: Mode;
}

/** Progress of a run over a file, kept in a file, so that a stopped run continues without verifying anything twice. */
export interface Journal {
  /** Does it continue an earlier run? */
  readonly isResumed: boolean;
  /** Returns the Idempotency-Key of a request in this run: equal requests have equal keys. */
  keyOf(request: VerifyRequest): string;
  outcomeOf(key: string): Outcome | undefined;
  /** Writes an outcome before it returns. */
  record(key: string, outcome: Outcome): void;
  remove(): void;
}

/** Opens the journal, or begins one. Errors: UsageError if it belongs to a run with other options, or can't be written. */
export function openJournal(file: string, identity: RunIdentity): Journal {
  const lines = readLines(file);
  const stored = lines[0] as (RunIdentity & { run_id: string }) | undefined;
  const runId = stored?.run_id ?? randomUUID();
  if (stored) {
    const other = (["base_url", "environment", "mode", "checks"] as const).find(
      (name) => String(stored[name]) !== String(identity[name]),
    );
    if (other) {
      throw new UsageError(
        `${file} belongs to an unfinished run with another ${other} (${stored[other]}). Finish that run, or delete the file.`,
      );
    }
  } else {
    write(() =>
      writeFileSync(file, `${JSON.stringify({ run_id: runId, ...identity })}\n`, { flag: "wx", mode: 0o600 }),
    );
  }
  const outcomes = new Map<string, Outcome>();
  for (const line of lines.slice(1)) {
    const { key, ...outcome } = line as { key: string } & Outcome;
    outcomes.set(key, outcome);
  }
  return {
    isResumed: stored !== undefined,
    keyOf: (request) =>
      `cli-${createHash("sha256")
        .update(`${runId}\n${JSON.stringify(request)}`)
        .digest("hex")}`,
    outcomeOf: (key) => outcomes.get(key),
    record(key, outcome) {
      write(() => appendFileSync(file, `${JSON.stringify({ key, ...outcome })}\n`));
      outcomes.set(key, outcome);
    },
    remove: () => rmSync(file, { force: true }),
  };
}

/** Returns the lines of a journal. A crash can leave the last line incomplete: it is cut off. */
function readLines(file: string): unknown[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new UsageError((error as Error).message, { cause: error });
  }
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole.length === 0) rmSync(file);
  else if (whole.length < text.length) write(() => writeFileSync(file, whole));
  try {
    return whole
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch (error) {
    throw new UsageError(`${file} is damaged. Delete it to begin again.`, { cause: error });
  }
}

function write(action: () => void): void {
  try {
    action();
  } catch (error) {
    throw new UsageError(`The progress can't be stored: ${(error as Error).message}.`, { cause: error });
  }
}
