import { ApiError, type Client, type VerifyRequest } from "@vendor-verification/client";
import type { Journal, Outcome } from "./journal.ts";
import type { Quota } from "./quota.ts";

/** A run waits longer for the service than a single call does. */
const LIMITS = { timeoutMs: 600_000, maxAttempts: 12 };

/**
 * Verifies all requests that the journal has no outcome of yet, several at the same time, and records each outcome.
 * When a call fails for a reason that concerns all of them, no further one starts, and it throws when those in flight
 * have ended. Aborting the signal ends those too; their Idempotency-Keys make repeating them safe.
 */
export async function verifyAll(options: {
  client: Pick<Client, "verify">;
  journal: Pick<Journal, "outcomeOf" | "record">;
  quota: Pick<Quota, "ready" | "track">;
  /** By Idempotency-Key. */
  requests: ReadonlyMap<string, VerifyRequest>;
  /** Maximum number of calls at the same time. */
  parallel: number;
  signal: AbortSignal;
  onOutcome: (key: string) => void;
}): Promise<void> {
  const { client, journal, requests, signal, onOutcome } = options;
  const open = [...requests].filter(([key]) => !journal.outcomeOf(key));
  await callAll({ ...options, items: open }, async ([idempotencyKey, request]) => {
    const outcome = await client
      .verify(request, { idempotencyKey, signal, ...LIMITS })
      .then((verification): Outcome => ({ verification }), refusalOf);
    journal.record(idempotencyKey, outcome);
    onOutcome(idempotencyKey);
  });
}

/**
 * Makes a call for each item, several at the same time and within the quota. When one throws, no further one starts, and
 * this throws when those in flight have ended.
 */
export async function callAll<T>(
  options: {
    items: readonly T[];
    quota: Pick<Quota, "ready" | "track">;
    /** Maximum number of calls at the same time. */
    parallel: number;
    signal: AbortSignal;
  },
  call: (item: T) => Promise<void>,
): Promise<void> {
  const { items, quota, parallel, signal } = options;
  const running = new Set<Promise<void>>();
  const faults: unknown[] = [];
  for (const item of items) {
    while (running.size >= parallel) await Promise.race(running);
    if (faults.length === 0) await quota.ready(signal).catch((error) => faults.push(error));
    if (faults.length > 0) break;
    const work = quota
      .track(call(item))
      .catch((error) => void faults.push(error))
      .finally(() => running.delete(work));
    running.add(work);
  }
  await Promise.all(running);
  if (faults.length > 0) throw faults[0];
}

/** Returns why the service refused this vendor. Throws errors that concern all vendors. */
function refusalOf(error: unknown): Outcome {
  if (!(error instanceof ApiError) || !concernsOnlyThis(error)) throw error;
  const { code, message, details } = error;
  const text = details.length > 1 ? details.map(({ path, message }) => `${path} ${message}`).join("; ") : message;
  return { refusal: { code, message: text } };
}

function concernsOnlyThis({ status, code }: ApiError): boolean {
  if (status === 409) return code !== "idempotency_conflict";
  return status === 400 || code === "entity_not_found" || code === "idempotency_mismatch" || code === "internal_error";
}
