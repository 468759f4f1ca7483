import { type AddressInfo, connect } from "node:net";
import { createServer, type TlsOptions } from "node:tls";

/** Ends TLS on a free port in front of a local one. */
export async function tlsInFrontOf(
  port: number,
  options: TlsOptions & { readonly host?: string },
): Promise<{ port: number; close(): void }> {
  const closes = new Set<() => void>();
  const server = createServer(options, (socket) => {
    const upstream = connect(port, "127.0.0.1");
    socket.pipe(upstream).on("error", () => socket.destroy());
    upstream.pipe(socket).on("error", () => upstream.destroy());
    const close = () => socket.destroy();
    closes.add(close);
    socket.on("close", () => closes.delete(close));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, options.host ?? "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const close of closes) close();
    },
  };
}
