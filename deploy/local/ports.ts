import { once } from "node:events";
import { createServer } from "node:net";
import { StartError } from "./servers/start-error.ts";

/** Makes sure that a port can be listened on. Errors: StartError that names the port and the variable that moves it. */
export async function requireFreePort(port: number, variable: string): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch (cause) {
    throw new StartError(`Port ${port} is in use: end what listens there, or choose another with ${variable}=….`, {
      cause,
    });
  }
  server.close();
  await once(server, "close");
}
