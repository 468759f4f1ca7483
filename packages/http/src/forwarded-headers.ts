import type { IncomingMessage } from "node:http";
import { metrics } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";

/** How the forwarded headers of a request contradict TRUSTED_PROXY_HOPS. */
type Contradiction = "none_trusted" | "fewer" | "more";

const WARNINGS: Readonly<Record<Contradiction, string>> = {
  none_trusted:
    "requests come through a proxy, but none is trusted: all clients behind it share one address and its limits; set TRUSTED_PROXY_HOPS",
  fewer:
    "a request has fewer entries of X-Forwarded-For than TRUSTED_PROXY_HOPS: clients can invent their address, or share that of a proxy",
  more: "a request has more entries of X-Forwarded-For than TRUSTED_PROXY_HOPS: a client sent some itself, or a proxy is not counted and all clients share its address",
};

/**
 * Returns how the headers of a request contradict the number of trusted proxies, or undefined if they fit. Each trusted
 * proxy adds one entry to X-Forwarded-For, so a request that came through them has exactly as many.
 */
export function forwardedContradiction(
  headers: IncomingMessage["headers"],
  trustedProxyHops: number,
): Contradiction | undefined {
  const entries = forwardedFor(headers).length;
  if (trustedProxyHops === 0) return entries > 0 || headers.forwarded !== undefined ? "none_trusted" : undefined;
  if (entries < trustedProxyHops) return "fewer";
  return entries > trustedProxyHops ? "more" : undefined;
}

/** Returns the entries of X-Forwarded-For: the client's own first, that of the nearest proxy last. */
export function forwardedFor(headers: IncomingMessage["headers"]): string[] {
  return String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/**
 * Returns a function that counts requests whose forwarded headers contradict the number of trusted proxies. Each kind of
 * contradiction is logged once, without the headers' text, which strangers can choose.
 */
export function createForwardedWatch(options: {
  trustedProxyHops: number;
  logger: Pick<Logger, "warn">;
}): (request: Pick<IncomingMessage, "headers">) => void {
  const { trustedProxyHops, logger } = options;
  const counter = metrics.getMeter("http").createCounter("http_forwarded_contradictions", {
    description:
      "Requests whose forwarded headers do not fit TRUSTED_PROXY_HOPS. Clients can cause single ones; if most requests count, the setting is wrong and limits by client address are shared or can be evaded.",
  });
  const warned = new Set<Contradiction>();
  return ({ headers }) => {
    const contradiction = forwardedContradiction(headers, trustedProxyHops);
    if (contradiction === undefined) return;
    counter.add(1, { contradiction });
    if (warned.has(contradiction)) return;
    warned.add(contradiction);
    logger.warn({ contradiction, trusted_proxy_hops: trustedProxyHops }, WARNINGS[contradiction]);
  };
}
