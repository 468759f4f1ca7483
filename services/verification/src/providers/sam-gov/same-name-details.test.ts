import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { questionOf } from "../../testing/calls.ts";
import { type Files, type FilesBy, samGovForEachTest, UEI } from "../../testing/sam-gov-api.ts";
import { createRegistryReader, readRegistry } from "./registry-reader.ts";

const NOW = new Date("2026-11-21T09:30:00.000Z");
const { sam, ask, askFiles } = samGovForEachTest(NOW);

const rowOf = (name: string) => ({ name, program: "Reciprocal", agency: "HHS", terminationDate: "indefinite" });
const detailOf = (name: string) => ({
  ...{ name, program: "Reciprocal", type: "", agency: "HHS" },
  ...{ active_date: "", termination_date: "indefinite" },
});
const filesOf = (sameNames: ReturnType<typeof rowOf>[]): Files => ({
  record: { uei: UEI, cage: "1PLY1", legalName: "ACME LLC", extractCode: "A", expirationDate: "2027-03-01" },
  ...{ registryCutDate: "2026-11-01", registryLoad: "registry:1" },
  ...{ exclusionsCutDate: "2026-11-20", exclusionsLoad: "exclusions:1" },
  sameNames,
});
const askExtract = (files: Files | FilesBy, legalName = "Acme") => askFiles(files, undefined, { legalName });

describe("exclusions that bear the vendor's name", () => {
  test("are in the details and in the evidence of an answer from the files, and change nothing else", async () => {
    const without = await askExtract(filesOf([]));
    const { details, content, ...rest } = await askExtract(filesOf([rowOf("ACME")]));
    expect(without.details).not.toHaveProperty("same_name");
    expect(without.content).not.toContain("same_names");
    expect(details).toEqual({ ...without.details, same_name: [detailOf("ACME")] });
    expect(JSON.parse(content)).toMatchObject({ same_names: [{ name: "ACME", agency: "HHS" }] });
    expect({ ...rest, details: without.details, content: without.content }).toEqual(without);
  });

  const byName = (names: readonly string[]) => filesOf(names.includes("ACME LLC") ? [rowOf("ACME")] : []);

  test("are found by the registered name where the question has none", async () => {
    sam.register({ uei: UEI, legalName: "ACME LLC", expirationDate: "2027-03-01" });
    const answers = await Promise.all([askExtract(byName, ""), ask(byName, { legalName: "" })]);
    for (const { details } of answers) expect(details?.same_name).toEqual([detailOf("ACME")]);
  });

  test.each<[string, Files | undefined]>([
    ["the files can't be read", undefined],
    ["no exclusions file is loaded", { ...filesOf([]), exclusionsCutDate: "", exclusionsLoad: "" }],
  ])("are unknown where %s", async (_name, files) => {
    sam.register({ uei: UEI, legalName: "ACME LLC", expirationDate: "2027-03-01" });
    const { outcome, details } = await ask(files, { legalName: "Acme" });
    expect([outcome, details?.same_name_unknown, details?.same_name]).toEqual(["pass", true, undefined]);
  });

  const all = ["Acme", "LORWIN INC", "ACME LLC"];
  test.each<[string, string, Record<string, string>, string[], string[][]]>([
    ["the name of the question", "Acme", { Acme: "ACME" }, ["ACME"], [["Acme"], all]],
    ["the name in SAM.gov's answer too", "Acme", { "LORWIN INC": "LORWIN" }, ["LORWIN"], [["Acme"], all]],
    [
      "only those of the answer and the files where none is known",
      "",
      { "LORWIN INC": "LORWIN" },
      ["LORWIN"],
      [[], all.slice(1)],
    ],
    ["one name where both are the same", "LORWIN INC", { "LORWIN INC": "LORWIN" }, ["LORWIN"], [["LORWIN INC"]]],
  ])("are found by the API's provider by %s", async (_name, legalName, rows, found, asked) => {
    sam.register({ uei: UEI, legalName: "LORWIN INC", expirationDate: "2027-03-01" });
    const names: string[][] = [];
    const files = (given: readonly string[]) => {
      names.push([...given]);
      return filesOf(given.flatMap((name) => (rows[name] ? [rowOf(rows[name])] : [])).slice(0, 1));
    };
    const { details, outcome, content } = await ask(files, { legalName });
    expect([outcome, details?.same_name]).toEqual(["pass", found.map(detailOf)]);
    for (const name of found) expect(content).toContain(`"name":"${name}"`);
    expect(names).toEqual(asked);
  });
});

test.each([
  [true, ["Acme"]],
  [false, []],
])("names are asked for by a reader that reads names: %s", async (readsNames, expected) => {
  const asked: unknown[] = [];
  const reader = createRegistryReader(
    {
      async getRegistryRecords({ queries = [] }) {
        asked.push(...queries.map(({ names }) => names));
        return { records: queries.map(() => create(RegistryAnswerSchema)) } as never;
      },
    },
    { readsNames },
  );
  await readRegistry(reader, questionOf({ uei: UEI, legalName: "Acme" }), new AbortController().signal);
  expect(asked).toEqual([expected]);
});
