import { once } from "node:events";
import { createServer } from "node:net";
import { StartError } from "./servers/start-error.ts";

/** Checks that a port is free. Errors: StartError with the port and the variable that changes it. */
export async function requireFreePort(port: number, variable: string): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch (cause) {
    throw new StartError(
      `Port ${port} is in use: stop the program that uses it, or choose another port with ${variable}=….`,
      {
        cause,
      },
    );
  }
  server.close();
  await once(server, "close");
}
