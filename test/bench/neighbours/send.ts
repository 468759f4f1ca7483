import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and returns the answer's status; its body is not read. Costs little of the processors that the attacker
 * shares with the product here, and not in the world.
 */
export function send(url: string, key: string, body?: object, headers: Headers = {}): Promise<number> {
  const json = body && { "content-type": "application/json" };
  return sendRaw(url, { authorization: `Bearer ${key}`, ...json, ...headers }, body && JSON.stringify(body));
}

/** Sends a form as a browser does; as `send` otherwise. */
export function sendForm(url: string, fields: Readonly<Record<string, string>>, headers: Headers): Promise<number> {
  const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
  return sendRaw(url, { ...form, ...headers }, new URLSearchParams(fields).toString());
}

type Headers = Readonly<Record<string, string>>;

function sendRaw(url: string, headers: Headers, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent, method: body === undefined ? "GET" : "POST", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode!)).on("error", reject);
    })
      .on("error", reject)
      .end(body);
  });
}
