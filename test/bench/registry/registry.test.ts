import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { explainOddity } from "@vvs/identifiers/oddities";
import { readExtract, validateExtract } from "../../../services/entity/src/registry-load/files/extract.ts";
import type { ExtractRow } from "../../../services/entity/src/registry-load/files/row.ts";
import { extractOf, nameModelOf } from "./extract.ts";
import { createNameModel, textOf } from "./names.ts";
import { type Category, categories, lookAlikes, queriesOf } from "./queries.ts";

const cutDate = new Date("2026-09-06T00:00:00Z");
const SIZE = 2_000;

async function textOfExtract(seed: number, namesFile?: string): Promise<string> {
  const names = await nameModelOf(seed, namesFile);
  return (await gathered(extractOf({ seed, size: SIZE, names, cutDate }))).join("");
}

async function gathered<T>(all: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "registry-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a made-up extract is valid: every row is read, and no identifier is odd or repeated", () =>
  inFolder(async (folder) => {
    const path = join(folder, "SAM_PUBLIC_MONTHLY_V2_20260906.dat");
    await writeFile(path, await textOfExtract(3));
    expect(await validateExtract(path)).toMatchObject({ rows: SIZE, cutDate: "2026-09-06" });
    const items = (await gathered(readExtract(path))).flat();
    const rows = items.flatMap(({ row }): ExtractRow[] => (row ? [row] : []));
    expect(rows).toHaveLength(SIZE);
    expect(new Set(rows.map(({ uei }) => uei)).size).toBe(SIZE);
    const cages = rows.flatMap(({ sam }) => sam.cage ?? []);
    expect(new Set(cages).size).toBe(cages.length);
    expect(rows.flatMap(({ uei }) => explainOddity("uei", uei) ?? [])).toEqual([]);
    expect(cages.flatMap((cage) => explainOddity("cage", cage) ?? [])).toEqual([]);
    expect(rows.filter(({ other_names }) => other_names.length > 0).length).toBeGreaterThan(SIZE / 20);
    expect(rows.every(({ addresses }) => addresses.length === 2)).toBe(true);
  }));

test("the same seed makes the same extract, and another seed makes another", async () => {
  expect(await textOfExtract(3)).toBe(await textOfExtract(3));
  expect(await textOfExtract(4)).not.toBe(await textOfExtract(3));
});

test("an extract with a file of names uses the words of these names", () =>
  inFolder(async (folder) => {
    const path = join(folder, "names.txt");
    await writeFile(path, "QUIXOTE WINDMILL REPAIR, INC.\nROCINANTE STABLES LLC\nSANCHO ISLAND GOVERNMENT CORP\n");
    const text = await textOfExtract(1, path);
    expect(text).toMatch(/\|ROCINANTE WINDMILL /);
    expect(text).toContain(" STABLES");
  }));

test("each category has queries, and only absent ones are for names that the registry lacks", () => {
  const names = createNameModel(1);
  const of = (cat: Category) =>
    [...queriesOf({ cat, count: 30, seed: 1, size: SIZE, names, countOf: () => 1 })].map(({ q, id }) => ({ q, id }));
  for (const cat of [...categories, ...lookAlikes]) expect(of(cat)).toHaveLength(30);
  for (const cat of ["absent", ...lookAlikes] as const) expect(of(cat).every(({ id }) => id === null)).toBe(true);
  expect(of("typo1")).toEqual(of("typo1"));
  for (const { q, id } of of("exact")) expect(q.toUpperCase()).toBe(textOf(names.nameAt(id!)));
  for (const { q, id } of of("typo1")) expect(q.toUpperCase()).not.toBe(textOf(names.nameAt(id!)));
});
