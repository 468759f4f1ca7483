import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { GuardedAgentOptions } from "@vvs/egress";
import type { WebhookDispatcherConfig } from "../config.ts";

/**
 * Returns where webhooks may go, by which proxy, and with which client certificate. Errors: a certificate without its key
 * or a key without its certificate, a certificate that can't be parsed, and a key of another certificate.
 */
export function egressConfig(
  config: Pick<
    WebhookDispatcherConfig,
    | "WEBHOOK_ALLOW_PRIVATE_TARGETS"
    | "WEBHOOK_REFUSED_RANGES"
    | "WEBHOOK_EGRESS_PROXY_URL"
    | "WEBHOOK_CLIENT_CERT"
    | "WEBHOOK_CLIENT_KEY"
  >,
): Pick<GuardedAgentOptions, "allowPrivateTargets" | "refusedRanges" | "proxy" | "identity"> {
  const { WEBHOOK_EGRESS_PROXY_URL: url, WEBHOOK_CLIENT_CERT: cert, WEBHOOK_CLIENT_KEY: key } = config;
  return {
    allowPrivateTargets: config.WEBHOOK_ALLOW_PRIVATE_TARGETS,
    refusedRanges: config.WEBHOOK_REFUSED_RANGES,
    proxy: url === undefined ? undefined : { url: new URL(url) },
    identity: identityOf(cert, key),
  };
}

function identityOf(cert: string | undefined, key: string | undefined): GuardedAgentOptions["identity"] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new Error("WEBHOOK_CLIENT_CERT and WEBHOOK_CLIENT_KEY belong together: set both or none");
  try {
    new X509Certificate(cert);
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new Error("WEBHOOK_CLIENT_CERT and WEBHOOK_CLIENT_KEY can't be used", { cause });
  }
  return { cert, key };
}
