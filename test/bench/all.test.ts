import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { runAll } from "./all.ts";
import { type Benchmark, type Bounds, type Figures, judge, type Measured, UsageError } from "./benchmark.ts";

const folder = temporaryFolder();
const file = join(folder, "benchmarks.md");

const benchmarks: Benchmark[] = ["fast", "slow"].map((name) => ({ name, about: name, rows: [] }));
const bounds: Record<string, Bounds> = {
  fast: { ratio_to_bare: { at_least: 0.5 }, p99_to_bare: { at_most: 2 }, p99_ms: { at_most: 10 } },
  slow: { growth: { at_most: 3 } },
};
const asBefore = { fast: { ratio_to_bare: 0.8, p99_to_bare: 1, p99_ms: 5, per_second: 900 }, slow: { growth: 2 } };

/** Runs with these figures; a benchmark without any fails. */
async function run(figuresOf: Partial<Record<string, Figures>>, ...args: string[]) {
  const printed: string[] = [];
  const code = await runAll({
    benchmarks,
    args,
    json: true,
    log: () => undefined,
    print: (text) => printed.push(text),
    async measure({ name }): Promise<Measured[]> {
      const figures = figuresOf[name];
      if (!figures) throw new Error("no | servers");
      const sizes = { rounds: 2 };
      return [{ row: "all", sizes, conditions: {}, figures, targets: judge(bounds[name]!, figures) }];
    },
  });
  return { code, text: printed.join("\n"), json: JSON.parse(printed.at(-1)!) };
}

async function writeBefore(): Promise<void> {
  writeFileSync(file, "# Benchmarks\nProse.\n\n## Last full table\nnothing yet\n");
  await run(asBefore, "--write", file);
}

test("the table is written after the prose, and can be read again", async () => {
  await writeBefore();
  const written = readFileSync(file, "utf8");
  expect(written).toMatch(/^# Benchmarks\nProse\.\n\n## Last full table\nCommit [0-9a-f]+/);
  expect(written).not.toContain("nothing yet");
  expect(written).toContain(
    "| `fast all --rounds 2` | `ratio_to_bare` | 0.8 | ≥ 0.5 |\n|  | `p99_to_bare` | 1 | ≤ 2 |",
  );
  const { code, json } = await run(asBefore, "--against", file);
  expect({ code, worse: json.worse }).toEqual({ code: 0, worse: [] });
});

test.each([
  ["a ratio that is 15 % lower", { ...asBefore.fast, ratio_to_bare: 0.68 }, 0],
  ["a ratio that is more than 15 % lower", { ...asBefore.fast, ratio_to_bare: 0.67 }, 1],
  ["a higher ratio where higher is better", { ...asBefore.fast, ratio_to_bare: 2 }, 0],
  ["a ratio that is more than 15 % higher where lower is better", { ...asBefore.fast, p99_to_bare: 1.16 }, 1],
  ["a rate or a time, which depend on the machine", { ...asBefore.fast, p99_ms: 50, per_second: 9 }, 0],
  ["a ratio of NaN", { ...asBefore.fast, ratio_to_bare: Number.NaN }, 1],
] as const)("%s against an earlier table", async (_about, fast, code) => {
  await writeBefore();
  const { text, ...result } = await run({ ...asBefore, fast }, "--against", file);
  expect(result.code).toBe(code);
  expect(result.json.worse).toHaveLength(code);
  expect(/, WORSE \|$/m.test(text)).toBe(code === 1);
});

test("a benchmark that fails has a row that says so, and the others are measured", async () => {
  await writeBefore();
  const { code, text, json } = await run({ slow: asBefore.slow }, "--against", file);
  expect(code).toBe(1);
  expect(text).toContain("| `fast fast` |  | failed: no servers |");
  expect(json.worse).toEqual([
    "fast fast: no | servers",
    "fast ratio_to_bare was not measured",
    "fast p99_to_bare was not measured",
  ]);
  expect(json.benchmarks.map(({ figures }: { figures: Figures }) => figures)).toEqual([{}, asBefore.slow]);
  expect((await run({ slow: asBefore.slow })).code).toBe(1);
});

test("without an earlier table, a missed target gives the exit code", async () => {
  expect((await run(asBefore)).code).toBe(0);
  expect((await run({ ...asBefore, slow: { growth: 4 } })).code).toBe(1);
});

test("a file without a place for the table is refused before anything is measured", async () => {
  writeFileSync(file, "# Benchmarks\n");
  await expect(run({}, "--write", file)).rejects.toThrow(UsageError);
  await expect(run({}, "--against", join(folder, "absent.md"))).rejects.toThrow(UsageError);
});
