import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { atEnd, untilEnd } from "@vvs/testing";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { startSubscriber } from "../support/subscriber.ts";
import { startTestStack } from "./stack.ts";

const targets: string[] = [];

/** A proxy that connects to any target. */
const proxy = untilEnd(createServer()).on("connect", (request, client: Socket) => {
  targets.push(request.url!);
  const [host, port] = request.url!.split(":");
  const target = connect(Number(port), host, () => {
    client.write("HTTP/1.1 200 OK\r\n\r\n");
    target.pipe(client).pipe(target);
  });
  for (const socket of [client, target]) socket.on("error", () => undefined);
  atEnd(() => client.destroy());
  atEnd(() => target.destroy());
});

const proxyPort = await freePort();
const subscriber = await startSubscriber();
const stack = await startTestStack({
  environment: { WEBHOOK_EGRESS_PROXY_URL: `http://127.0.0.1:${proxyPort}` },
});

test("while the proxy is unavailable no attempt is counted; once it is available, the first one goes through it", async () => {
  const event = await stack.tell(subscriber.url);
  await stack.deliveryOf(event, ({ next_attempt_at }) => next_attempt_at !== null);
  await stack.logged(/webhooks can't be sent/);
  expect((await stack.deliveryOf(event, () => true)).attempts).toEqual([]);
  await new Promise<void>((resolve) => proxy.listen(proxyPort, "127.0.0.1", resolve));
  const { attempts } = await stack.deliveryOf(event, ({ status }) => status === "delivered");
  expect(attempts).toMatchObject([{ number: 1, status_code: 200 }]);
  expect(subscriber.received.map(({ headers }) => headers["x-delivery-attempt"])).toEqual(["1"]);
  expect(targets).toContain(new URL(subscriber.url).host);
});
