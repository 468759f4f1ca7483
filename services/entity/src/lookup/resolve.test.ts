import { describe, expect, test } from "@jest/globals";
import type { IdentifierMap } from "@vvs/identifiers";
import { contradictions, type Naming, type Resolution, resolve } from "./resolve.ts";

const carried = (type: Naming["type"], ...carriers: string[]): Naming => ({ type, carriers, remembered: [] });
const remembered = (type: Naming["type"], ...ids: string[]): Naming => ({ type, carriers: [], remembered: ids });
const unknown = (type: Naming["type"]): Naming => ({ type, carriers: [], remembered: [] });

describe("identifiers together name", () => {
  test.each<[string, Naming[], Resolution]>([
    ["nothing, if none is given", [], { kind: "none" }],
    ["nothing, if none is known", [unknown("uei"), unknown("tin")], { kind: "none" }],
    ["the entity that carries one", [carried("uei", "A")], { kind: "named", ids: ["A"] }],
    [
      "the same entity, even with an unknown identifier",
      [carried("uei", "A"), unknown("tin")],
      { kind: "named", ids: ["A"] },
    ],
    ["the entity that carries both", [carried("uei", "A"), carried("cage", "A", "B")], { kind: "named", ids: ["A"] }],
    ["all that carry a shared one", [carried("cage", "A", "B")], { kind: "named", ids: ["A", "B"] }],
    ["different ones", [carried("uei", "A"), carried("cage", "B")], { kind: "ambiguous", ids: ["A", "B"] }],
    [
      "different entities, if three name no common one",
      [carried("uei", "A"), carried("cage", "A", "B"), carried("duns", "B")],
      { kind: "ambiguous", ids: ["A", "B"] },
    ],
    ["the entity that an identifier is remembered for", [remembered("tin", "A")], { kind: "named", ids: ["A"] }],
    [
      "a carrier rather than an entity that an identifier is remembered for",
      [carried("uei", "A"), remembered("tin", "B")],
      { kind: "named", ids: ["A"] },
    ],
    [
      "the remembered one of several carriers",
      [carried("cage", "A", "B"), remembered("tin", "B")],
      { kind: "named", ids: ["B"] },
    ],
    [
      "different entities, if two are remembered",
      [remembered("tin", "A"), remembered("duns", "B")],
      { kind: "ambiguous", ids: ["A", "B"] },
    ],
  ])("%s", (_, namings, expected) => {
    expect(resolve(namings)).toEqual(expected);
  });
});

describe("an entity is contradicted by", () => {
  test.each<[string, IdentifierMap, Parameters<typeof contradictions>[1], string[]]>([
    ["nothing, if values are the same", { uei: "U" }, { uei: "U" }, []],
    ["no identifier that it does not carry", { uei: "U", tin: "123456789" }, { uei: "U" }, []],
    ["no identifier that is not given", { uei: "U" }, { uei: "U", cage: "C" }, []],
    ["another value", { uei: "U", cage: "X" }, { uei: "U", cage: "C" }, ["cage"]],
    [
      "a malformed value of an identifier that it carries",
      { uei: "U", duns: "1" },
      { uei: "U", duns: "123456789" },
      ["duns"],
    ],
    ["another TIN", { tin: "123456789" }, { tin: false }, ["tin"]],
    ["nothing, if its own TIN is given", { tin: "123456789" }, { tin: true }, []],
  ])("%s", (_, given, own, expected) => {
    expect(contradictions(given, own)).toEqual(expected);
  });
});
