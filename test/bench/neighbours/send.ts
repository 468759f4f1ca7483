import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and returns the answer's status; its body is not read. Costs little of the processors that the attacker
 * shares with the product here, and not in the world.
 */
export function send(
  url: string,
  key: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const options = {
    agent,
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }), ...headers },
  };
  return new Promise((resolve, reject) => {
    request(url, options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode!)).on("error", reject);
    })
      .on("error", reject)
      .end(body && JSON.stringify(body));
  });
}
