import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { SigningSecrets } from "./signature.ts";

/** A rotation, or its end, shows after so long at the latest. */
const KEPT_MS = 1_000;
const AGAIN_MS = 500;
/** Organizations whose secrets are kept; beyond, all are asked for anew. */
const MAX_KEPT = 10_000;

/** The secrets that sign, of one environment's organizations. */
export interface Signing {
  /** Errors: they can't be had now. */
  secretsOf(organizationId: string): SigningSecrets | Promise<SigningSecrets>;
  /** Nobody's can be had: there is no use in beginning an attempt. */
  isAway(): boolean;
  close(): void;
}

/**
 * Asks for secrets at most once a second for each organization, however many attempts are made. While they can't be had
 * one of them is asked for until it is there; `onBack` is called then.
 */
export function createSigning(options: {
  ask: (organizationId: string) => Promise<SigningSecrets>;
  onBack: () => void;
  logger: Logger;
}): Signing {
  const { ask, logger } = options;
  const kept = new Map<string, { secrets: SigningSecrets | Promise<SigningSecrets>; askedAt: number }>();
  /** Organizations that have none. */
  const lacking = new Set<string>();
  let away: NodeJS.Timeout | undefined;

  function back(): void {
    if (!away) return;
    clearTimeout(away);
    away = undefined;
    logger.info("signing secrets can be had again");
    options.onBack();
  }

  function lost(organizationId: string, err: unknown): void {
    // An organization without secrets says nothing of the others'.
    if (err instanceof ServiceError && err.code === "not_found") {
      if (!lacking.has(organizationId))
        logger.error(
          { err, organization_id: organizationId },
          "an organization has no signing secret: its webhooks wait",
        );
      lacking.add(organizationId);
      back();
      return;
    }
    if (!away) logger.error({ err }, "signing secrets can't be had; webhooks wait, and no attempt is counted");
    clearTimeout(away);
    away = setTimeout(() => void askFor(organizationId).catch(() => undefined), AGAIN_MS);
    away.unref();
  }

  async function askFor(organizationId: string): Promise<SigningSecrets> {
    try {
      const secrets = await ask(organizationId);
      kept.set(organizationId, { secrets, askedAt: performance.now() });
      lacking.delete(organizationId);
      back();
      return secrets;
    } catch (err) {
      kept.delete(organizationId);
      lost(organizationId, err);
      throw err;
    }
  }

  return {
    secretsOf(organizationId) {
      const known = kept.get(organizationId);
      if (known && performance.now() - known.askedAt < KEPT_MS) return known.secrets;
      if (kept.size >= MAX_KEPT) kept.clear();
      const secrets = askFor(organizationId);
      kept.set(organizationId, { secrets, askedAt: performance.now() });
      return secrets;
    },
    isAway: () => away !== undefined,
    close: () => clearTimeout(away),
  };
}
