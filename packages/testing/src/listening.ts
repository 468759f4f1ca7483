import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { atEnd } from "./at-end.ts";

/** Lets a server listen until the tests of the file are over, at a free port unless one is given; returns the port. */
export async function listening(server: Server, host = "127.0.0.1", port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await once(server.listen(port, host), "listening");
  atEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
