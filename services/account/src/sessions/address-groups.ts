import ipaddr from "ipaddr.js";

/** Maximum length kept of a value that is not an IP address. */
const MAX_LENGTH = 64;

/** Returns what counts as one address: an IPv4 address, or an IPv6 /64, because one subscriber usually has a whole /64. */
export function addressGroup(text: string): string {
  return grouped(text, { ipv4Bits: 32, ipv6Bits: 64 });
}

/** Returns what counts as one network: an IPv4 /24, or an IPv6 /48, which providers give to one customer. */
export function networkGroup(text: string): string {
  return grouped(text, { ipv4Bits: 24, ipv6Bits: 48 });
}

function grouped(text: string, { ipv4Bits, ipv6Bits }: { ipv4Bits: number; ipv6Bits: number }): string {
  if (!ipaddr.isValid(text)) return text.slice(0, MAX_LENGTH);
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv6) {
    const network = address.parts.slice(0, ipv6Bits / 16).map((part) => part.toString(16));
    return `${network.join(":")}::/${ipv6Bits}`;
  }
  const network = address.octets.slice(0, ipv4Bits / 8);
  return network.length === 4 ? network.join(".") : `${network.join(".")}.0/${ipv4Bits}`;
}
