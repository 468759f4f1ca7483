import { expect, test } from "@jest/globals";
import { readSameNames } from "./same-names.ts";

const visit = { caller: {} } as Parameters<typeof readSameNames>[1];

/** Reads with an entity service that says that all names agree, or that is unavailable; returns also how many it compared. */
async function read(pairs: Parameters<typeof readSameNames>[2], agree: boolean | undefined) {
  let compared = 0;
  const vendorList = {
    compareNames: async (request: { pairs?: readonly object[] }) => {
      compared += request.pairs!.length;
      return { agree: request.pairs!.map(() => agree) };
    },
  };
  const readPanel = async (_visit: unknown, _name: string, call: (options: object) => Promise<unknown>) =>
    agree === undefined ? undefined : call({});
  const context = { vendorList, readPanel } as unknown as Parameters<typeof readSameNames>[0];
  return { isSame: await readSameNames(context, visit, pairs), compared: () => compared };
}

test.each([
  ["Acme LLC", "Acme LLC"],
  ["OBrien & Sons Inc", "O’Brien & Sons, Inc."],
  ["An Extraordinarily Long Business Name Of", "An Extraordinarily Long Business Name Of America, Inc."],
])("%j is %j as it is sent to the IRS, which needs no comparison", async (asked, own) => {
  const { isSame, compared } = await read([{ asked, own }], undefined);
  expect([isSame(asked, own), compared()]).toEqual([true, 0]);
});

test("other names are those that an exact look-up finds equal, each pair asked once", async () => {
  const pair = { asked: "Acme Incorporated", own: "Acme Inc" };
  const { isSame, compared } = await read([pair, pair, { asked: "", own: "Acme Inc" }], true);
  expect([isSame(pair.asked, pair.own), compared()]).toEqual([true, 1]);
  expect(isSame("", "Acme Inc")).toBe(false);
  expect(isSame("", "")).toBe(false);
  for (const agree of [false, undefined]) {
    expect((await read([pair], agree)).isSame(pair.asked, pair.own)).toBe(false);
  }
});
