import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The range that IANA assigns for global unicast; all other addresses are special or not in use. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Returns whether the product may connect to an address. Only globally routable unicast addresses are allowed: no
 * private, loopback, link-local (such as cloud metadata), carrier-grade NAT, multicast, documentation or other special
 * ranges, and no IPv6 forms that embed such an IPv4 address. Other texts, and addresses in an unusual notation, are not
 * public.
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address === undefined) return false;
  if (address.kind() === "ipv6" && !(address as ipaddr.IPv6).match(GLOBAL_UNICAST)) return false;
  return address.range() === "unicast";
}

/**
 * Returns the parsed address, with ::ffff:a.b.c.d converted to IPv4. The library itself also accepts octal, hexadecimal
 * and short forms of IPv4, and reads ::a.b.c.d as ::ffff:a.b.c.d, so it gets only one notation of each address.
 */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const family = isIP(text);
  if (family === 0) return undefined;
  const canonical = family === 4 ? text : URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  return canonical === undefined ? undefined : ipaddr.process(canonical);
}

/** Returns the hostname of a URL without the brackets around IPv6. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
