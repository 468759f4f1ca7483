import { type Bound, boundText, type Measured } from "./benchmark.ts";

/** A line of the table of all benchmarks: a figure, or why a row could not be measured. */
export interface Entry {
  /** The command that measures it, such as `lookup names --size 100000`. Its first word is the benchmark. */
  readonly command: string;
  /** Undefined if it could not be measured. */
  readonly figure: string | undefined;
  /** The figure's value, or the reason. */
  readonly value: number | string;
  readonly target?: Bound & { readonly holds: boolean };
}

const HEAD = "| benchmark | figure | value | target |";
const WORSE_BY = 0.15;

/** Returns the entries of a benchmark's rows. */
export function entriesOf(bench: string, rows: readonly Measured[]): Entry[] {
  return rows.flatMap(({ row, sizes, figures, targets, failure }): Entry[] => {
    const command = [bench, row, ...Object.entries(sizes).map(([name, size]) => `--${name} ${size}`)].join(" ");
    if (failure !== undefined) return [{ command, figure: undefined, value: failure }];
    return Object.entries(figures).map(([figure, value]) => ({ command, figure, value, target: targets[figure] }));
  });
}

/** Formats entries as a Markdown table, with a note after each entry that has one. */
export function writeTable(entries: readonly Entry[], notes?: ReadonlyMap<Entry, string>): string {
  const lines = entries.map((entry, index) => {
    const { command, figure, value, target } = entry;
    const isFirst = entries[index - 1]?.command !== command;
    const cells = [
      isFirst ? `\`${command}\`` : "",
      figure === undefined ? "" : `\`${figure}\``,
      figure === undefined ? `failed: ${String(value).replaceAll(/\s*[\n|]+\s*/g, " ")}` : String(value),
      target ? `${boundText(target)}${target.holds ? "" : ", missed"}` : "",
      ...(notes ? [notes.get(entry) ?? ""] : []),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const [head, rule] = [HEAD, "|---|---|---|---|"];
  return [notes ? `${head} against |` : head, notes ? `${rule}---|` : rule, ...lines].join("\n");
}

/** Reads the figures of a written table by benchmark and figure. */
export function readTable(text: string): Map<string, number> {
  const values = new Map<string, number>();
  let bench = "";
  for (const line of text.split("\n").slice(text.split("\n").indexOf(HEAD) + 1)) {
    const [, command, figure, value] = /^\| (?:`(.+?)`)? ?\| `(.+?)` \| (\S+) \|/.exec(line) ?? [];
    if (command !== undefined) bench = command.split(" ")[0]!;
    if (figure !== undefined) values.set(`${bench} ${figure}`, Number(value));
  }
  return values;
}

/** Returns whether a figure can be compared with one of another machine: a ratio with a target, by its name. */
function isRatio(figure: string): boolean {
  return /(^|_)(ratio|to|share|growth)(_|$)/.test(figure) && !/_(ms|s|seconds|mb|percent|second)$/.test(figure);
}

export interface Comparison {
  /** Texts for the last column. */
  readonly notes: ReadonlyMap<Entry, string>;
  /** Ratios that are worse by more than 15 %, rows that failed and ratios that are not measured any more. */
  readonly worse: readonly string[];
}

/** Compares the ratios that have a target with those of an earlier table. The target says which direction is worse. */
export function compare(entries: readonly Entry[], before: ReadonlyMap<string, number>): Comparison {
  const notes = new Map<Entry, string>();
  const worse: string[] = [];
  const keyOf = ({ command, figure }: Entry) => `${command.split(" ")[0]} ${figure}`;
  for (const entry of entries) {
    const { command, figure, value, target } = entry;
    if (figure === undefined) worse.push(`${command}: ${value}`);
    else if (target && isRatio(figure)) {
      const was = before.get(keyOf(entry));
      if (was === undefined) notes.set(entry, "new");
      else {
        const isWorse = !isAsGood(target, Number(value), was);
        notes.set(entry, `${was}${isWorse ? ", WORSE" : ""}`);
        if (isWorse) worse.push(`${command}: ${figure} was ${was} and is ${value}`);
      }
    }
  }
  const now = new Set(entries.map(keyOf));
  const gone = [...before.keys()].filter((key) => isRatio(key.split(" ")[1]!) && !now.has(key));
  return { notes, worse: [...worse, ...gone.map((key) => `${key} was not measured`)] };
}

function isAsGood({ at_least }: Bound, value: number, was: number): boolean {
  return at_least === undefined ? value <= was * (1 + WORSE_BY) : value >= was * (1 - WORSE_BY);
}
