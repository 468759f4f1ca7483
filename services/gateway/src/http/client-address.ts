import type { IncomingMessage } from "node:http";
import { forwardedFor } from "@vvs/http";
import ipaddr from "ipaddr.js";

/**
 * Returns the IP address of the client: that of the connection, or the one that the outermost of `hops` trusted proxies
 * reports. Only the entries of X-Forwarded-For that the operator's own proxies wrote are trusted.
 */
export function clientAddress(request: Pick<IncomingMessage, "headers" | "socket">, hops: number): string {
  const peer = request.socket.remoteAddress ?? "";
  if (hops === 0) return readable(peer) ?? peer;
  const forwarded = forwardedFor(request.headers);
  const claimed = forwarded[Math.max(0, forwarded.length - hops)] ?? peer;
  return readable(claimed) ?? readable(peer) ?? peer;
}

/** Returns what limits count an address by. IPv6 addresses count by /64, because one subscriber usually has a whole /64. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`;
}

function readable(text: string): string | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : undefined;
}
