import { describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { normalizeName } from "../matching/names/normalize-name.ts";
import { createMatchIndexBuilder, type MatchIndex } from "./name-index.ts";

const owners = [null, "org_a", "org_b"] as const;

/** An index of entities with their owners and names; `idOf` returns the id for a first name. */
function indexOf(entities: readonly (readonly [owner: string | null, ...names: string[]])[]) {
  const builder = createMatchIndexBuilder();
  const ids = new Map<string, string>();
  for (const owner of owners) {
    for (const [own, ...names] of entities.filter(([each]) => each === owner)) {
      ids.set(names[0]!, newId("ent"));
      builder.add({ id: ids.get(names[0]!)!, owner: own, names });
    }
  }
  return { index: builder.finish(), idOf: (name: string) => ids.get(name)! };
}

const found = (index: MatchIndex, text: string, searcher = "org_a") =>
  index.search(normalizeName(text), searcher, 10).hits.map(({ id }) => id);

describe("a name is found", () => {
  const names = [
    "Quarrystone Paving LLC",
    "North Fork Timber Inc",
    "Bluebird Analytics Corp",
    "Hernandez Communications Services LLC",
    "Meridian Construction Services Group Inc",
    "SANDOVAL, MARIA T",
    "Zephyr Manufacturing Company",
    "Copper Kettle Comm Group",
    "The Larkspur",
    "Stonebridge Pavilion Inc",
    "K Brandywine Inc",
    "Toro Brickworks LLC",
  ];
  const { index, idOf } = indexOf(names.map((name) => [null, name] as const));
  test.each([
    ["unchanged", "Quarrystone Paving LLC", "Quarrystone Paving LLC"],
    ["with another legal form", "Quarrystone Paving Inc.", "Quarrystone Paving LLC"],
    ["through a typing error", "Quarystone Paving", "Quarrystone Paving LLC"],
    ["through two", "Quarystnoe Paving", "Quarrystone Paving LLC"],
    ["through an error in the first letter", "Xuarrystone Paving", "Quarrystone Paving LLC"],
    ["without one of its words", "Meridian Services Group", "Meridian Construction Services Group Inc"],
    ["in another order", "Timber North Fork", "North Fork Timber Inc"],
    ["with split words joined", "Northfork Timber", "North Fork Timber Inc"],
    ["with a joined word split", "Blue Bird Analytics", "Bluebird Analytics Corp"],
    ["abbreviated", "Zephyr Mfg Co", "Zephyr Manufacturing Company"],
    ["abbreviated in the registry", "Copper Kettle Communications Group", "Copper Kettle Comm Group"],
    ["shortened to consonants", "Hernandez Comm Svcs", "Hernandez Communications Services LLC"],
    ["with additional words", "Quarrystone Paving of America", "Quarrystone Paving LLC"],
    ["of a person, surname last", "Maria T Sandoval", "SANDOVAL, MARIA T"],
    ["of one word with an article", "Larkspur", "The Larkspur"],
    ["with two of eight letters omitted", "Pavlon Stonebridge", "Stonebridge Pavilion Inc"],
    ["with a single letter joined to a word", "KBrandywine Inc", "K Brandywine Inc"],
    ["with a particle joined to a word", "ElToro Brickworks", "Toro Brickworks LLC"],
  ])("%s", (_, asked, expected) => {
    expect(found(index, asked)[0]).toBe(idOf(expected));
  });

  test("not by words that are in no name", () => {
    expect(found(index, "Gxqwv Pltrm")).toEqual([]);
    expect(found(index, "")).toEqual([]);
    expect(found(index, "&")).toEqual([]);
  });
});

test("an entity is found by each of its names, once", () => {
  const { index, idOf } = indexOf([[null, "Quarrystone Paving LLC", "Old Mill Asphalt", "Quarrystone Roads"]]);
  expect(found(index, "Old Mill Asphalt")).toEqual([idOf("Quarrystone Paving LLC")]);
  expect(found(index, "Quarrystone")).toEqual([idOf("Quarrystone Paving LLC")]);
});

describe("an organization's own entities", () => {
  const names = ["Kestrel Ridge Farms", "Kestrel Ridge Farm LLC", "Kestrell Ridge Farms"] as const;
  const make = () =>
    indexOf([
      [null, names[0]],
      ["org_a", names[1]],
      ["org_b", names[2]],
    ]);

  test("are found only by it, together with the registry's", () => {
    const { index, idOf } = make();
    expect(found(index, "Kestrel Ridge Farms", "org_a").sort()).toEqual([idOf(names[0]), idOf(names[1])].sort());
    expect(found(index, "Kestrel Ridge Farms", "org_b").sort()).toEqual([idOf(names[0]), idOf(names[2])].sort());
    expect(found(index, "Kestrel Ridge Farms", "org_c")).toEqual([idOf(names[0])]);
  });

  test("neither change other organizations' results nor use up their search budget", () => {
    const { index, idOf } = make();
    const before = index.search(normalizeName("Kestrel Ridge Farms"), "org_c", 10);
    for (let count = 0; count < 3_000; count++) {
      index.put({ id: newId("ent"), owner: "org_b", names: [`Kestrel Ridge Farms ${count}`] });
    }
    expect(index.search(normalizeName("Kestrel Ridge Farms"), "org_c", 10)).toEqual(before);
    expect(found(index, "Kestrel Ridge Farms", "org_a")).toContain(idOf(names[1]));
  });

  test("are separate also when added later", () => {
    const { index } = make();
    const id = newId("ent");
    index.put({ id, owner: "org_b", names: ["Umbria Glassworks"] });
    expect(found(index, "Umbria Glassworks", "org_b")).toEqual([id]);
    expect(found(index, "Umbria Glasworks", "org_b")).toEqual([id]);
    expect(found(index, "Umbria Glassworks", "org_a")).toEqual([]);
  });
});

describe("an entity that changed", () => {
  test("is found by its new name and no longer by its old one", () => {
    const { index, idOf } = indexOf([
      [null, "Quarrystone Paving LLC"],
      [null, "Bluebird Analytics Corp"],
    ]);
    const id = idOf("Quarrystone Paving LLC");
    index.put({ id, owner: null, names: ["Umbria Glassworks"] });
    expect(found(index, "Umbria Glassworks")).toEqual([id]);
    expect(found(index, "Quarrystone Paving")).toEqual([]);
    index.put({ id, owner: null, names: ["Tremont Foundry"] });
    expect(found(index, "Tremont Foundry")).toEqual([id]);
    expect(found(index, "Umbria Glassworks")).toEqual([]);
    index.remove(id);
    expect(found(index, "Tremont Foundry")).toEqual([]);
  });

  test("does not count as a change if its names are the same", () => {
    const { index, idOf } = indexOf([
      [null, "Quarrystone Paving LLC", "Old Mill Asphalt"],
      ["org_a", "Tremont Foundry"],
    ]);
    index.put({
      id: idOf("Quarrystone Paving LLC"),
      owner: null,
      names: ["Quarrystone Paving LLC", "Old Mill Asphalt"],
    });
    index.put({ id: idOf("Tremont Foundry"), owner: "org_a", names: ["Tremont Foundry"] });
    expect(index.changes).toBe(0);
    index.put({ id: idOf("Quarrystone Paving LLC"), owner: null, names: ["Quarrystone Paving LLC"] });
    expect(index.changes).toBe(1);
    expect(found(index, "Old Mill Asphalt")).toEqual([]);
  });
});

test("a name of one common word is found among many names with that word", () => {
  const places = ["Ashford", "Belmont", "Carver", "Dunmore", "Elgin", "Fairfax", "Granby", "Hollis"];
  const all = Array.from({ length: 3_000 }, (_, index): readonly [null, string] => [
    null,
    `${places[index % 8]}${index.toString(36).replaceAll(/\d/g, "x")} Collection LLC`,
  ]);
  const others = places.map((place): readonly [null, string] => [null, `${place} Inc`]);
  const { index, idOf } = indexOf([...all, ...others, [null, "Collection LLC"], [null, "Collection, Inc."]]);
  expect(found(index, "Collection Inc")[0]).toBe(idOf("Collection, Inc."));
  expect(found(index, "Colection Inc")[0]).toBe(idOf("Collection, Inc."));
});

test("two common words together find a name that neither finds by itself", () => {
  const trades = ["Construction", "Services", "Group", "Solutions", "Consulting", "Supply", "Design", "Medical"];
  const all = Array.from({ length: 12_000 }, (_, index): readonly [null, string] => {
    const [a, b] = [trades[index % 8]!, trades[(index * 7 + 3) % 8]!];
    return [null, `${a} ${b} ${index.toString(36).replaceAll(/\d/g, "x")}qz LLC`];
  });
  const { index, idOf } = indexOf([...all, [null, "Supply Medical Corp"], [null, "Medical Group Design Inc"]]);
  expect(found(index, "Medical Supply")[0]).toBe(idOf("Supply Medical Corp"));
  expect(found(index, "Group Design Medical")[0]).toBe(idOf("Medical Group Design Inc"));
});
