import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface MongoProxy {
  /** Connection string through the proxy. */
  readonly uri: string;
  /** Stops all traffic in both directions, as if the server hangs; connections stay open. */
  hold(): void;
  release(): void;
  /**
   * Loses the replies to the next messages with this text, after the server has acted: the connection ends, or all
   * hang.
   */
  loseReply(text: string, how: "cut" | "hold", times?: number): void;
  close(): void;
}

/** Starts a proxy between a client and the real server. */
export async function mongoProxy(uri: string): Promise<MongoProxy> {
  const target = new URL(uri);
  const pairs = new Set<{ client: Socket; upstream: Socket }>();
  let held = false;
  let watch: { text: string; how: "cut" | "hold"; times: number } | undefined;
  const apply = () => {
    const ends = [...pairs].flatMap(({ client, upstream }) => [client, upstream]);
    for (const end of ends) {
      if (held) end.pause();
      else end.resume();
    }
  };
  const proxy: MongoProxy = {
    uri: "",
    hold() {
      held = true;
      apply();
    },
    release() {
      held = false;
      apply();
    },
    loseReply(text, how, times = 1) {
      watch = { text, how, times };
    },
    close() {
      server.close();
      for (const { client } of pairs) client.destroy();
    },
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const pair = { client, upstream };
    pairs.add(pair);
    let loses: "cut" | "hold" | undefined;
    client.on("data", (data) => {
      upstream.write(data);
      if (!watch || watch.times === 0 || !data.includes(watch.text)) return;
      loses = watch.how;
      watch.times--;
    });
    upstream.on("data", (data) => {
      if (!loses) client.write(data);
      // The server has run the command, because its reply has arrived here.
      else if (loses === "cut") client.destroy();
      else proxy.hold();
    });
    for (const end of [client, upstream]) end.on("error", () => end.destroy());
    client.on("close", () => {
      upstream.destroy();
      pairs.delete(pair);
    });
    upstream.on("close", () => client.destroy());
    apply();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(proxy, {
    uri: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/?directConnection=true`,
  });
}
