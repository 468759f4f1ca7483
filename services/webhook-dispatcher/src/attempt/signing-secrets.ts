import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { SigningSecrets } from "./signature.ts";

/** How long secrets are cached, in milliseconds: a rotation takes effect within it. */
const CACHED_MS = 1_000;
const RETRY_MS = 500;
/** Maximum number of organizations in the cache; beyond it, the cache is emptied. */
const MAX_CACHED = 10_000;

/** What account knows of an organization's deliveries. */
export interface DeliveryTerms {
  readonly secrets: SigningSecrets;
  /** Exact hosts that the operator lets this organization reach at private addresses. */
  readonly privateHosts: readonly string[];
}

export type SigningSecretCache = ReturnType<typeof createSigningSecretCache>;

/**
 * The secrets that sign for the organizations of one environment. Requests an organization's at most once a second, however
 * many attempts are made. While account is unavailable, it tries again every 500 ms with the organization asked longest ago.
 */
export function createSigningSecretCache(options: {
  ask: (organizationId: string) => Promise<DeliveryTerms>;
  logger: Logger;
}) {
  const { ask, logger } = options;
  /** In the order in which they were asked. */
  const cached = new Map<string, { secrets: Promise<DeliveryTerms | undefined>; askedAt: number }>();
  /** When the secrets of an organization began to fail, though account answers. */
  const failing = new Map<string, number>();
  let onAvailable: () => void = () => undefined;
  /** Set while secrets are unavailable. */
  let retry: NodeJS.Timeout | undefined;

  function available(): void {
    if (!retry) return;
    clearTimeout(retry);
    retry = undefined;
    logger.info("signing secrets are available again");
    onAvailable();
  }

  function failed(organizationId: string, err: unknown): void {
    // Any other answer about one organization says nothing about the others.
    if (!(err instanceof ServiceError && err.code === "service_unavailable")) {
      if (!failing.has(organizationId)) {
        failing.set(organizationId, performance.now());
        logger.error(
          { err, organization_id: organizationId },
          "the signing secrets of an organization can't be read: its webhooks wait",
        );
      }
      available();
      return;
    }
    if (!retry) logger.error({ err }, "signing secrets are unavailable; webhooks wait and no attempt is counted");
    clearTimeout(retry);
    retry = setTimeout(() => void request(cached.keys().next().value ?? organizationId), RETRY_MS);
    retry.unref();
  }

  async function load(organizationId: string): Promise<DeliveryTerms | undefined> {
    try {
      const secrets = await ask(organizationId);
      failing.delete(organizationId);
      available();
      return secrets;
    } catch (err) {
      failed(organizationId, err);
      return undefined;
    }
  }

  function request(organizationId: string): Promise<DeliveryTerms | undefined> {
    if (cached.size >= MAX_CACHED) cached.clear();
    const secrets = load(organizationId);
    cached.delete(organizationId);
    cached.set(organizationId, { secrets, askedAt: performance.now() });
    return secrets;
  }

  return {
    /** Returns an organization's secrets and private hosts; undefined if they are unavailable now, which is logged. */
    secretsOf(organizationId: string): Promise<DeliveryTerms | undefined> {
      const known = cached.get(organizationId);
      return known && performance.now() - known.askedAt < CACHED_MS ? known.secrets : request(organizationId);
    },
    /** Returns for how long only this organization's secrets have failed, in milliseconds; 0 if they have not. */
    failingMs(organizationId: string): number {
      const since = failing.get(organizationId);
      return since === undefined ? 0 : performance.now() - since;
    },
    /** Returns whether the secrets of all organizations are unavailable. No attempt should begin then. */
    isUnavailable: () => retry !== undefined,
    /** Sets what is called when secrets are available again. */
    onAvailable(listener: () => void): void {
      onAvailable = listener;
    },
    close: () => clearTimeout(retry),
  };
}
