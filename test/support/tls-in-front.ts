import { connect } from "node:net";
import { createServer, type TlsOptions } from "node:tls";
import { listening } from "@vvs/testing";

/** Ends TLS in front of a local port, until the tests of the file are over; returns its port. */
export function tlsInFrontOf(port: number, options: TlsOptions & { readonly host?: string }): Promise<number> {
  const server = createServer(options, (socket) => {
    const upstream = connect(port, "127.0.0.1");
    socket.pipe(upstream).on("error", () => socket.destroy());
    upstream.pipe(socket).on("error", () => upstream.destroy());
  });
  server.on("tlsClientError", () => undefined);
  return listening(server, options.host);
}
