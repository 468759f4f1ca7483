import { createHash } from "node:crypto";
import { notTheEffect, release } from "@vvs/deadline";
import type { Logger } from "@vvs/logging";
import type { Tenant } from "@vvs/tenant";
import { type GuessLimit, guessLimits, tinGuessesRefused } from "../metrics.ts";
import type { CheckRun } from "../providers/check-run.ts";
import type { createGuessesStore, GuessTarget } from "./guesses-store.ts";
import { nameKey } from "./name-key.ts";

/** A name and a TIN about which an organization has no answer yet. */
export interface Guess {
  readonly subject: { readonly entityId: string; readonly legalName: string; readonly tinHash: Uint8Array };
  /** Maximum number of the organization's guesses that fail in a UTC day. */
  readonly failuresPerDay: number;
}

/** Asks about a TIN only within the limits on guessing; beyond them, returns an error without asking. */
export type AskWithinLimits = (tenant: Tenant, guess: Guess, ask: () => Promise<CheckRun>) => Promise<CheckRun>;

/** Reasons of attempts in which the provider was not called. */
const NOT_CALLED: ReadonlySet<string> = new Set(["circuit_open", "quota_exhausted", "budget_spent", "unusable_name"]);

const REFUSED: CheckRun = { kind: "error", reason: "too_many_attempts", attempts: [] };

/**
 * Creates the limits on guessing TINs, which are exact for any number of calls and replicas: everything is counted before
 * it is asked. About a vendor, and about a name in any spelling, at most `tinsPerVendor` TINs that did not match count
 * within 24 hours. A TIN that a provider was asked about without an answer counts too; one that counts can be asked again. Errors:
 * the database's: then nothing is asked.
 */
export function createAskWithinLimits(options: {
  store: ReturnType<typeof createGuessesStore>;
  tinsPerVendor: number;
  now: () => Date;
  logger: Logger;
}): AskWithinLimits {
  const { store, tinsPerVendor: limit, now, logger } = options;
  // So that the first refusal counts as a rise.
  for (const each of guessLimits) tinGuessesRefused.add(0, { limit: each });

  return async (tenant, { subject, failuresPerDay }, ask) => {
    const { entityId, legalName, tinHash } = subject;
    const targets: readonly GuessTarget[] = [
      { kind: "entity", key: entityId },
      { kind: "name", key: createHash("sha256").update(nameKey(legalName)).digest("hex") },
    ];
    /** Takes back what was counted: a TIN that was refused was not asked, and reveals nothing. */
    const refused = async (reached: GuessLimit, counted: readonly GuessTarget[]) => {
      await release(() => Promise.all(counted.map((target) => store.returnTin(tenant, { target, tinHash }))));
      tinGuessesRefused.add(1, { limit: reached });
      const ids = { organization_id: tenant.organizationId, entity_id: entityId };
      logger.warn({ ...ids, limit: reached }, "tin_match was not asked: too many attempts");
      return REFUSED;
    };
    const at = now();
    const adding = targets.map((target) => store.addTin(tenant, { target, tinHash, limit, at }));
    const added = await Promise.all(adding).catch(notTheEffect);
    const full = targets.find((_, index) => !added[index]);
    const counted = targets.filter((_, index) => added[index]);
    if (full) return refused(full.kind, counted);
    const isCounted = await store.addFailure(tenant, { limit: failuresPerDay, at }).catch(notTheEffect);
    if (!isCounted) return refused("failures", counted);

    let run: CheckRun | undefined;
    try {
      run = await ask();
      return run;
    } finally {
      const outcome = run?.kind === "answered" ? run.answer.outcome : "error";
      const unasked = wasAsked(run) ? undefined : store.returnTin;
      const uncount = outcome === "pass" ? store.removeTin : unasked;
      await release(() =>
        Promise.all([
          ...targets.map((target) => uncount?.(tenant, { target, tinHash })),
          outcome !== "fail" && store.removeFailure(tenant, at),
        ]),
      );
    }
  };
}

/** Was any provider called? None was where there is no run: the TIN could not be revealed. */
function wasAsked(run: CheckRun | undefined): boolean {
  return run?.attempts.some(({ reason }) => !NOT_CALLED.has(reason)) ?? false;
}
