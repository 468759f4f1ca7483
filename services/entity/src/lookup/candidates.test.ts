import { expect, test } from "@jest/globals";
import { normalizeName } from "../matching/names/normalize-name.ts";
import { createIndexedCandidates } from "./candidates.ts";

const tenant = { organizationId: "org_a", environment: "live" } as const;
const hits = [
  { id: "best", score: 0.97, evidence: 6 },
  { id: "likely", score: 0.7, evidence: 0 },
  { id: "chanceless", score: 0.2, evidence: -2 },
  { id: "unlike", score: 0.02, evidence: 5 },
];

/** Returns which of the index's hits a query reads as entities, and the limits of the searches by MongoDB's keys. */
async function reads(
  query: { address: string | undefined },
  options: { completeUntil?: number; now?: number; lacksOwn?: boolean } = {},
) {
  const { completeUntil = Number.POSITIVE_INFINITY, now = 0, lacksOwn = false } = options;
  const read: string[] = [];
  const limits: number[] = [];
  const candidates = createIndexedCandidates({
    store: {
      async findMatches(_tenant, ids) {
        read.push(...ids);
        return [];
      },
      async findWhere(_tenant, _filter, limit) {
        limits.push(limit);
        return [];
      },
    },
    index: {
      search: async () => ({ hits, counts: new Map(), nameCount: 1, completeUntil, lacksOwn }),
    },
    now: () => new Date(now),
  });
  await candidates(tenant, { name: normalizeName("Quarrystone Paving"), ...query });
  return { read, limits };
}

test("in a look-up only by name, entities far below the best are not read", async () => {
  expect(await reads({ address: undefined })).toEqual({ read: ["best", "likely"], limits: [] });
});

test("with an address, every entity with a similar name is read", async () => {
  const { read } = await reads({ address: "1 Main St, Elgin, IL 60120" });
  expect(read).toEqual(["best", "likely", "chanceless"]);
});

test("while the index is behind, only few entities are read by MongoDB's keys", async () => {
  const { read, limits } = await reads({ address: undefined }, { completeUntil: 0, now: 60_000 });
  expect(read).toEqual(["best", "likely"]);
  expect(limits).toEqual([40, 40]);
});

test("the database's clock decides whether the index is behind, even if this machine's clock is slow", async () => {
  const now = Date.now() + 60_000;
  expect((await reads({ address: undefined }, { completeUntil: now - 40_000, now })).limits).toEqual([40, 40]);
  expect((await reads({ address: undefined }, { completeUntil: now - 4_000, now })).limits).toEqual([]);
});

test("an organization with more names than its share of the index is also searched by MongoDB's keys", async () => {
  expect((await reads({ address: undefined }, { lacksOwn: true })).limits).toEqual([40, 40]);
});
