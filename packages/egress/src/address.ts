import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** All that IANA gives out for global unicast; what lies outside is special or not in use. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * May the product connect to this address? Only to globally routable unicast ones: never to private, loopback,
 * link-local (cloud metadata among them), carrier-grade NAT, multicast, documentation or otherwise special ranges, also
 * not in IPv6 forms that embed such an IPv4 address. What is no address, or one in an odd spelling, is not public.
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address === undefined) return false;
  if (address.kind() === "ipv6" && !(address as ipaddr.IPv6).match(GLOBAL_UNICAST)) return false;
  return address.range() === "unicast";
}

/**
 * The address, ::ffff:a.b.c.d unwrapped. The library by itself also takes octal, hexadecimal and short forms of IPv4, and
 * takes ::a.b.c.d for ::ffff:a.b.c.d: so it is given but one spelling of each address.
 */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const family = isIP(text);
  if (family === 0) return undefined;
  const canonical = family === 4 ? text : URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  return canonical === undefined ? undefined : ipaddr.process(canonical);
}
