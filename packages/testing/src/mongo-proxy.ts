import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { MongoClient } from "mongodb";

export interface MongoProxy {
  /** Connection string through the proxy. */
  readonly uri: string;
  /** Stops all traffic in both directions, as if the server hangs; connections stay open. */
  hold(): void;
  /** Lets traffic through again, also new connections after `killAt`. */
  release(): void;
  /**
   * Loses the replies to the next messages with this text, after the server has acted: the connection ends, or all
   * hang.
   */
  loseReply(text: string, how: "cut" | "hold", times?: number): void;
  /**
   * Ends all connections, until `release`, at the nth command (from 0) that `counts`, before it reaches the server or after the
   * server has run it, as if the client was killed there. Resolves when that has happened, and the server has ended the
   * transaction that the client had begun, as it does by itself after some seconds.
   */
  killAt(number: number, when: "before" | "after", counts: (command: Command) => boolean): Promise<void>;
  close(): void;
}

/** A command of a client. */
export interface Command {
  /** Such as insert, or commitTransaction. */
  readonly name: string;
  /** Empty where it names none. */
  readonly collection: string;
}

/** Starts a proxy between a client and the real server. */
export async function mongoProxy(uri: string): Promise<MongoProxy> {
  const target = new URL(uri);
  const pairs = new Set<{ client: Socket; upstream: Socket }>();
  let held = false;
  let watch: { text: string; how: "cut" | "hold"; times: number } | undefined;
  let kill: { left: number; when: "before" | "after"; counts: (command: Command) => boolean } | undefined;
  const [killed, ended] = [Promise.withResolvers<void>(), { isTrue: false }];
  async function die(): Promise<void> {
    ended.isTrue = true;
    const ports = [...pairs].map(({ upstream }) => upstream.localPort!);
    for (const { client, upstream } of pairs) for (const end of [client, upstream]) end.destroy();
    await endTransactions(uri, ports).then(killed.resolve, killed.reject);
  }
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
      ended.isTrue = false;
      kill = undefined;
      apply();
    },
    loseReply(text, how, times = 1) {
      watch = { text, how, times };
    },
    killAt(number, when, counts) {
      kill = { left: number, when, counts };
      return killed.promise;
    },
    close() {
      server.close();
      for (const { client } of pairs) client.destroy();
    },
  };
  const server = createServer((client) => {
    if (ended.isTrue) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    const pair = { client, upstream };
    pairs.add(pair);
    let loses: "cut" | "hold" | undefined;
    let isLast = false;
    client.on("data", (data: Buffer) => {
      if (ended.isTrue) return;
      if (kill?.counts(commandOf(data))) {
        if (kill.left === 0 && kill.when === "before") return void die();
        isLast = kill.left === 0;
        kill.left--;
      }
      upstream.write(data);
      if (!watch || watch.times === 0 || !data.includes(watch.text)) return;
      loses = watch.how;
      watch.times--;
    });
    upstream.on("data", (data) => {
      if (isLast) void die();
      else if (!loses) client.write(data);
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

const HEADER_BYTES = 16;
const OP_MSG = 2013;
const STRING = 2;

/** Reads the name of a message's command, which is the first field of its body, and its value if that is a text. */
function commandOf(message: Buffer): Command {
  const field = HEADER_BYTES + 4 + 1 + 4;
  if (message.length <= field || message.readInt32LE(12) !== OP_MSG) return { name: "", collection: "" };
  const end = message.indexOf(0, field + 1);
  const name = message.toString("utf8", field + 1, end);
  if (message[field] !== STRING) return { name, collection: "" };
  const start = end + 1 + 4;
  return { name, collection: message.toString("utf8", start, start + message.readInt32LE(end + 1) - 1) };
}

/** Ends the transactions that connections from these ports have left open. */
async function endTransactions(uri: string, ports: readonly number[]): Promise<void> {
  const client = new MongoClient(uri);
  const clients = ports.map((port) => `127.0.0.1:${port}`);
  const open = await client
    .db("admin")
    .aggregate([{ $currentOp: { idleSessions: true, allUsers: true } }, { $match: { client: { $in: clients } } }])
    .toArray();
  const sessions = open.flatMap(({ lsid }) => (lsid ? [{ id: lsid.id }] : []));
  if (sessions.length > 0) await client.db("admin").command({ killSessions: sessions });
  await client.close();
}
