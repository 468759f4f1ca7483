import { isIP } from "node:net";

// Plaintext gRPC is allowed only on loopback; every other address needs certificates.

/** Returns the address that grpc-js binds to, with brackets around an IPv6 host. */
export function bindAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Errors: the host is not loopback. */
export function expectLoopback(host: string): void {
  if (host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host)) return;
  throw new Error(`plaintext gRPC is for loopback only, not for ${host}: set the RPC_TLS_ variables`);
}

/** Errors: the host is an IP address, which TLS (RFC 6066) does not accept as a server name. */
export function expectName(host: string): void {
  if (isIP(host)) throw new Error(`with certificates a service is called by its name, not by ${host}`);
}

/** Returns the host of host:port or [IPv6]:port. */
export function hostOf(address: string): string {
  return address.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
}
