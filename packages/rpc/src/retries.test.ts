import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { testRpc } from "./testing.ts";

const { serve, client, close } = testRpc();
const closes: (() => void)[] = [];
afterEach(async () => {
  for (const end of closes.splice(0)) end();
  await close();
});

/** Stands between a client and its server, and breaks their connections when told to. */
async function startCable(port: () => number) {
  const sockets = new Set<Socket>();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const cable = createServer((socket) => {
    const there = connect(port(), "127.0.0.1");
    for (const one of [socket, there]) sockets.add(one.on("error", () => undefined));
    socket.pipe(there).pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(cable, "listening");
  closes.push(cut, () => cable.close());
  return { port: (cable.address() as AddressInfo).port, cut };
}

/** A server whose connection is cut while it works on the first call. */
async function serveWithACut() {
  let asked = 0;
  const answer = async ({ value }: { value: string }) => {
    asked += 1;
    if (asked === 1) cable.cut();
    return { value: `${value}, asked ${asked} times` };
  };
  const server = await serve({ ask: answer, getText: answer });
  const cable = await startCable(() => server.port);
  return { cable, asked: () => asked };
}

test("a call that reads is made again where its connection broke under it", async () => {
  const { cable } = await serveWithACut();
  await expect(client(cable).getText({ value: "text" })).resolves.toMatchObject({ value: "text, asked 2 times" });
});

test("any other call is not: its effect may be there already", async () => {
  const { cable, asked } = await serveWithACut();
  await expect(client(cable).ask({ value: "text" })).rejects.toMatchObject({ code: "service_unavailable" });
  expect(asked()).toBe(1);
});

test("what a server refuses by itself, as with its store away, is not asked again", async () => {
  let asked = 0;
  const server = await serve({
    getText: () => {
      asked += 1;
      return Promise.reject(new ServiceError("service_unavailable"));
    },
  });
  await expect(client(server).getText({})).rejects.toMatchObject({ code: "service_unavailable" });
  expect(asked).toBe(1);
});
