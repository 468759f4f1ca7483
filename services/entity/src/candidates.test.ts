import { expect, test } from "@jest/globals";
import { createIndexedCandidates } from "./candidates.ts";
import { normalizeName } from "./matching/normalize-name.ts";

const tenant = { organizationId: "org_a", environment: "live" } as const;
const hits = [
  { id: "best", score: 0.97, evidence: 6 },
  { id: "likely", score: 0.7, evidence: 0 },
  { id: "chanceless", score: 0.2, evidence: -2 },
  { id: "unlike", score: 0.02, evidence: 5 },
];

/** Which entities are read for a query whose name has these hits in the index. */
async function idsRead(query: { address: string | undefined }): Promise<readonly string[]> {
  const read: string[] = [];
  const candidates = createIndexedCandidates({
    store: {
      async findMatches(_tenant, ids) {
        read.push(...ids);
        return [];
      },
    },
    index: {
      search: async () => ({ hits, counts: new Map(), nameCount: 1, completeUntil: Number.POSITIVE_INFINITY }),
    },
    stored: async () => ({ entities: [], idf: () => 1 }),
    now: () => new Date(0),
  });
  await candidates(tenant, { name: normalizeName("Quarrystone Paving"), ...query });
  return read;
}

test("by a name alone no entity is read that the best leaves no chance", async () => {
  expect(await idsRead({ address: undefined })).toEqual(["best", "likely"]);
});

test("with an address each is read whose name is alike at all", async () => {
  expect(await idsRead({ address: "1 Main St, Elgin, IL 60120" })).toEqual(["best", "likely", "chanceless"]);
});
