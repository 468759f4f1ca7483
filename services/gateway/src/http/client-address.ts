import type { IncomingMessage } from "node:http";
import { forwardedFor } from "@vvs/http";
import ipaddr from "ipaddr.js";

/**
 * Returns the address that failed authentications are counted for: that of the connection, or the one that the outermost
 * of `hops` trusted proxies reports. IPv6 addresses count by /64, because one subscriber usually has a whole /64. Only the
 * entries of X-Forwarded-For that the operator's own proxies wrote are trusted.
 */
export function clientAddress(request: Pick<IncomingMessage, "headers" | "socket">, hops: number): string {
  const peer = request.socket.remoteAddress ?? "";
  if (hops === 0) return networkOf(peer) ?? peer;
  const forwarded = forwardedFor(request.headers);
  const claimed = forwarded[Math.max(0, forwarded.length - hops)] ?? peer;
  return networkOf(claimed) ?? networkOf(peer) ?? peer;
}

function networkOf(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address.kind() === "ipv4") return address.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
}
