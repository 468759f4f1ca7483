import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { SigningSecrets } from "./signature.ts";

/** How long secrets are cached, in milliseconds: a rotation takes effect within it. */
const CACHED_MS = 1_000;
const RETRY_MS = 500;
/** Maximum number of organizations in the cache; beyond it, the cache is emptied. */
const MAX_CACHED = 10_000;

/** The secrets that sign for the organizations of one environment. */
export interface SigningSecretCache {
  /** Errors: they are unavailable now. */
  secretsOf(organizationId: string): SigningSecrets | Promise<SigningSecrets>;
  /** Are the secrets of all organizations unavailable? No attempt should begin then. */
  isUnavailable(): boolean;
  /** Registers what is called when secrets are available again. */
  onAvailable(listener: () => void): void;
  close(): void;
}

/**
 * Asks for an organization's secrets at most once a second, however many attempts are made. While secrets are unavailable
 * it asks again every 500 ms for one organization's.
 */
export function createSigningSecretCache(options: {
  ask: (organizationId: string) => Promise<SigningSecrets>;
  logger: Logger;
}): SigningSecretCache {
  const { ask, logger } = options;
  const cached = new Map<string, { secrets: SigningSecrets | Promise<SigningSecrets>; askedAt: number }>();
  /** Organizations that have no secret. */
  const lacking = new Set<string>();
  const listeners: (() => void)[] = [];
  /** Set while secrets are unavailable. */
  let retry: NodeJS.Timeout | undefined;

  function available(): void {
    if (!retry) return;
    clearTimeout(retry);
    retry = undefined;
    logger.info("signing secrets are available again");
    for (const listener of listeners) listener();
  }

  function failed(organizationId: string, err: unknown): void {
    // One organization without a secret says nothing about the others.
    if (err instanceof ServiceError && err.code === "not_found") {
      if (!lacking.has(organizationId))
        logger.error(
          { err, organization_id: organizationId },
          "an organization has no signing secret: its webhooks wait",
        );
      lacking.add(organizationId);
      available();
      return;
    }
    if (!retry) logger.error({ err }, "signing secrets are unavailable; webhooks wait and no attempt is counted");
    clearTimeout(retry);
    retry = setTimeout(() => void askFor(organizationId).catch(() => undefined), RETRY_MS);
    retry.unref();
  }

  async function askFor(organizationId: string): Promise<SigningSecrets> {
    try {
      const secrets = await ask(organizationId);
      cached.set(organizationId, { secrets, askedAt: performance.now() });
      lacking.delete(organizationId);
      available();
      return secrets;
    } catch (err) {
      cached.delete(organizationId);
      failed(organizationId, err);
      throw err;
    }
  }

  return {
    secretsOf(organizationId) {
      const known = cached.get(organizationId);
      if (known && performance.now() - known.askedAt < CACHED_MS) return known.secrets;
      if (cached.size >= MAX_CACHED) cached.clear();
      const secrets = askFor(organizationId);
      cached.set(organizationId, { secrets, askedAt: performance.now() });
      return secrets;
    },
    isUnavailable: () => retry !== undefined,
    onAvailable: (listener) => void listeners.push(listener),
    close: () => clearTimeout(retry),
  };
}
