import { expect, test } from "@jest/globals";
import { type Benchmark, type Row, UsageError } from "./benchmark.ts";
import { chosenRows, measureRows } from "./rows.ts";

const row = (name: string, more: Partial<Row> = {}): Row => ({
  name,
  usesServers: false,
  targets: {},
  measure: async (_bench, sizes) => ({ ...sizes }),
  ...more,
});
const sizes = { rounds: { long: 5, short: 2 } };
const benchmark: Benchmark = {
  name: "example",
  about: "an example",
  rows: [row("one", { sizes }), row("two"), row("files", { files: ["names", "queries"] })],
};
const chosen = (...args: string[]) => {
  const { rows, files } = chosenRows(benchmark, args, "long");
  return { rows: rows.map(({ row: { name }, sizes: chosenSizes }) => [name, chosenSizes]), files };
};

test("arguments choose rows and sizes, and rows with files are measured only with these", () => {
  expect(chosen()).toEqual({
    rows: [
      ["one", { rounds: 5 }],
      ["two", {}],
    ],
    files: {},
  });
  expect(chosen("one", "--rounds", "3").rows).toEqual([["one", { rounds: 3 }]]);
  const files = { names: "a.txt", queries: "b.jsonl" };
  expect(chosen("--names", "a.txt", "--queries", "b.jsonl")).toEqual({ rows: [["files", {}]], files });
  expect(chosenRows(benchmark, [], "short").rows[0]!.sizes).toEqual({ rounds: 2 });
});

test.each([["--rounds", "0"], ["--rounds", "x"], ["--other", "1"], ["--rounds"]])("%s %s is refused", (...args) => {
  expect(() => chosen(...args)).toThrow(UsageError);
});

test("a row that fails does not stop the others", async () => {
  const failing = row("one", { measure: () => Promise.reject(new Error("no answer")) });
  const unmeasured = row("two", { targets: { ratio: { at_least: 1 } } });
  const rows = [failing, unmeasured, row("three", { sizes })].map((each) => ({ row: each, sizes: { rounds: 2 } }));
  const measured = await measureRows({ rows, files: {} }, () => undefined);
  expect(measured).toMatchObject([
    { failure: "no answer" },
    { failure: expect.stringContaining("ratio") },
    { row: "three", figures: { rounds: 2 } },
  ]);
  expect(measured[2]).not.toHaveProperty("failure");
});

test("rows share what the first one prepared, until the last is done", async () => {
  const events: string[] = [];
  const sharing = (name: string) =>
    row(name, {
      async measure({ share }) {
        await share("product", async ({ onClose }) => {
          events.push("start");
          onClose(() => events.push("stop"));
        });
        events.push(name);
        return {};
      },
    });
  const rows = [sharing("one"), sharing("two")].map((each) => ({ row: each, sizes: {} }));
  await measureRows({ rows, files: {} }, () => undefined);
  expect(events).toEqual(["start", "one", "two", "stop"]);
});
