import { isIP } from "node:net";

// Plaintext gRPC is for one machine alone: whoever is not on loopback needs certificates.

/** What grpc-js binds to; IPv6 addresses take brackets. */
export function bindAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What grpc-js connects to: all addresses that DNS has for the name, unless the address names a resolver itself. */
export function channelTarget(address: string): string {
  return address.includes("://") ? address : `dns:///${address}`;
}

/** Errors: the host is reached over a network. */
export function expectLoopback(host: string): void {
  if (host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host)) return;
  throw new Error(`plaintext gRPC is for loopback only, not for ${host}: set the RPC_TLS_ variables`);
}

/** Errors: the host is an IP address, by which TLS (RFC 6066) names no server. */
export function expectName(host: string): void {
  if (isIP(host)) throw new Error(`with certificates a service is called by its name, not by ${host}`);
}

/** The host of host:port, of [IPv6]:port, or of either behind a resolver's scheme. */
export function hostOf(address: string): string {
  const authority = address.slice(address.lastIndexOf("/") + 1);
  return authority.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
}
