import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The range that IANA assigns for global unicast; all other addresses are special or not in use. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Ranges that belong to the machine's host or cloud: metadata with credentials, and the services behind it. No subscriber
 * has such an address, so they are refused even where private addresses are allowed.
 */
const HOST_INTERNAL: readonly Range[] = [
  "169.254.0.0/16", // link-local; metadata of most clouds, credentials of containers
  "fe80::/10",
  "fd00:ec2::/32", // AWS over IPv6
  "fd20:ce::254/128", // Google Cloud over IPv6
  "100.100.100.200/32", // Alibaba Cloud
  "192.0.0.192/32", // Oracle Cloud
  "168.63.129.16/32", // Azure's host, at a public address
].map((text) => ipaddr.parseCIDR(text));

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Which addresses may be connected to. */
export interface AddressRule {
  /** Allows private addresses too, except those of the host and its cloud; only for local runs. */
  readonly allowPrivateTargets: boolean;
  /** Further ranges that are refused in any case, such as 203.0.113.0/24. */
  readonly refusedRanges?: readonly string[];
}

/** Returns whether a text is a range of addresses, such as 203.0.113.0/24. */
export const isRange = (text: string): boolean => ipaddr.isValidCIDR(text) && isIP(text.split("/")[0]!) !== 0;

/** Returns a function that decides which addresses may be connected to. Errors: a text that is not a range. */
export function addressRule({ allowPrivateTargets, refusedRanges = [] }: AddressRule): (text: string) => boolean {
  const refused = refusedRanges.map((text) => ipaddr.parseCIDR(text));
  return (text) => {
    const address = parse(text);
    if (address === undefined || isIn(address, HOST_INTERNAL) || isIn(address, refused)) return false;
    return allowPrivateTargets || isPublicAddress(text);
  };
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly Range[]): boolean {
  return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

/**
 * Returns whether the product may connect to an address. Only globally routable unicast addresses are allowed: no
 * private, loopback, link-local (such as cloud metadata), carrier-grade NAT, multicast, documentation or other special
 * ranges, no IPv6 forms that embed such an IPv4 address, and not the host of a cloud. Other texts, and addresses in an unusual notation, are not
 * public.
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address === undefined || isIn(address, HOST_INTERNAL)) return false;
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
