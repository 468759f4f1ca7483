import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

/**
 * Whom failed authentications are counted against: the address of the connection, or what the outermost of `hops`
 * trusted proxies says it was. IPv6 counts by /64, which one subscriber has whole. Never trusts more of
 * X-Forwarded-For than the operator's own proxies wrote.
 */
export function clientAddress(request: Pick<IncomingMessage, "headers" | "socket">, hops: number): string {
  const peer = request.socket.remoteAddress ?? "";
  if (hops === 0) return networkOf(peer) ?? peer;
  const forwarded = String(request.headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const claimed = forwarded[Math.max(0, forwarded.length - hops)] ?? peer;
  return networkOf(claimed) ?? networkOf(peer) ?? peer;
}

function networkOf(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address.kind() === "ipv4") return address.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
}
