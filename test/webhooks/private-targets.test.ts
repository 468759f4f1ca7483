import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { listening } from "@vvs/testing";
import { startTestStack } from "./stack.ts";

/** Names of subscribers, with their successive DNS answers. */
const NAMES: Record<string, string[][]> = {
  "inside.example": [["127.0.0.1"]],
  "inside-6.example": [["::1"]],
  "mapped.example": [["::ffff:127.0.0.1"]],
  "nat64.example": [["64:ff9b::7f00:1"]],
  "metadata.example": [["169.254.169.254"]],
  "half-inside.example": [["8.8.8.8", "127.0.0.1"]],
  "rebinds.example": [["127.0.0.1"], ["::1"], ["10.0.0.1"]],
};

let port = 0;
let reached = 0;

for (const host of ["127.0.0.1", "::1"]) {
  const server = createServer((_request, response) => {
    reached++;
    response.end("secrets of the inside");
  });
  port = await listening(server, host, port);
}
const stack = await startTestStack({
  environment: { WEBHOOK_ALLOW_PRIVATE_TARGETS: "false", PLAYED_NAMES: JSON.stringify(NAMES) },
  nodeOptions: ["--import", join(import.meta.dirname, "played-dns.ts")],
});

const HOSTS = [
  "127.0.0.1",
  "2130706433",
  "0x7f.1",
  "0177.0.0.1",
  "[::1]",
  "[::ffff:7f00:1]",
  "localhost",
  ...Object.keys(NAMES),
];

test("no private address is reached, in any spelling or through any name", async () => {
  const events = await Promise.all(HOSTS.map((host) => stack.tell(`http://${host}:${port}/hook`)));
  for (const event of events) {
    const { attempts } = await stack.deliveryOf(event, (delivery) => delivery.attempts.length > 0);
    expect(attempts[0]).toMatchObject({ error: "address_refused", answer_excerpt: "" });
    expect(attempts[0]!.status_code ?? null).toBeNull();
  }
  expect(reached).toBe(0);
});

test("a name with a changing DNS answer is checked again by each attempt", async () => {
  const event = await stack.tell(`http://rebinds.example:${port}/hook`);
  const { attempts } = await stack.deliveryOf(event, (delivery) => delivery.attempts.length > 1);
  expect(attempts.map(({ error }) => error)).toEqual(["address_refused", "address_refused"]);
  expect(reached).toBe(0);
});
