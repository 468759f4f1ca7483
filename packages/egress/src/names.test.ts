import { afterEach, describe, expect, test } from "@jest/globals";
import { createNames, createSystemLookup } from "./names.ts";
import { startNameServer } from "./testing/name-server.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function play(addressOf: (name: string) => string | undefined) {
  const server = await startNameServer(addressOf);
  closers.push(server.close);
  return { names: createNames({ nameServers: [server.address] }), asked: server.asked };
}

describe("a name", () => {
  test("has the addresses that its servers give", async () => {
    const { names } = await play(() => "203.0.113.7");
    expect(await names.resolve("org_1", "good.example")).toEqual([{ address: "203.0.113.7", family: 4 }]);
  });

  test("without an address is an error", async () => {
    const { names } = await play(() => undefined);
    await expect(names.resolve("org_1", "none.example")).rejects.toMatchObject({ code: "ENODATA" });
  });

  test("whose servers never answer is an error after a bounded time", async () => {
    const { names } = await play(() => "never");
    await expect(names.resolve("org_1", "dead.example")).rejects.toMatchObject({ code: "ETIMEOUT" });
  });
});

test("names whose servers never answer delay no name of another organization, and few are asked for at a time", async () => {
  const { names, asked } = await play((name) => (name.startsWith("dead") ? "never" : "203.0.113.7"));
  let ended = 0;
  const dead = Array.from({ length: 300 }, (_, at) =>
    names.resolve("org_dead", `dead${at}.example`).then(
      () => ended++,
      () => ended++,
    ),
  );
  // All of them wait for answers that do not come, or for their turn.
  expect(await names.resolve("org_2", "good.example")).toHaveLength(1);
  expect(await names.resolve("org_3", "other.example")).toHaveLength(1);
  expect(ended).toBe(0);
  const own = names.resolve("org_dead", "own.example");
  expect(await names.resolve("org_2", "own.example")).toHaveLength(1);
  expect([...asked].filter((name) => name.startsWith("dead")).length).toBeLessThanOrEqual(32);
  expect(dead).toHaveLength(300);
  expect(await Promise.race([own, Promise.resolve("waits")])).toBe("waits");
  own.catch(() => undefined);
});

test("the system's resolver gets only two names at a time, because each keeps a thread", async () => {
  const begun: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const lookUp = createSystemLookup(async (name) => {
    begun.push(name);
    await promise;
    return [{ address: "10.0.0.1", family: 4 }];
  });
  const all = Promise.all(["a", "b", "c", "d"].map(lookUp));
  await Promise.resolve();
  expect(begun).toEqual(["a", "b"]);
  resolve();
  expect(await all).toHaveLength(4);
  expect(begun).toEqual(["a", "b", "c", "d"]);
});
