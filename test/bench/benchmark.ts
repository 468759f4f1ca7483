/** What a figure must reach. */
export type Bound =
  | { readonly at_least: number; readonly at_most?: undefined }
  | { readonly at_most: number; readonly at_least?: undefined };

export interface Measured {
  /** What was compared with what, and under which circumstances. */
  readonly conditions: Readonly<Record<string, string | number | boolean>>;
  /** Names end in their unit. */
  readonly figures: Readonly<Record<string, number>>;
  /** The figures that this run is judged by, where its arguments chose a part; all that have a target where absent. */
  readonly judged?: readonly string[];
}

export interface Benchmark {
  readonly name: string;
  /** What it measures and against what, in a sentence. */
  readonly about: string;
  /** What may follow its name, as in `--names FILE`; nothing where absent. */
  readonly usage?: string;
  /** By the name of a figure. What a run measures beyond them it tells as figures alone. */
  readonly targets: Readonly<Record<string, Bound>>;
  /** Errors: UsageError for arguments that it can't take. */
  run(log: (line: string) => void, args: readonly string[]): Promise<Measured>;
}

/** The arguments of a benchmark are not what it takes. */
export class UsageError extends Error {}

export interface Report extends Measured {
  readonly bench: string;
  readonly targets: Readonly<Record<string, Bound & { readonly value: number; readonly holds: boolean }>>;
}

/** Holds the figures against the targets. Errors: a target whose figure was not measured. */
export function reportOf({ name, targets }: Benchmark, measured: Measured): Report {
  const { conditions, figures, judged: chosen } = measured;
  const asked = Object.entries(targets).filter(([figure]) => chosen?.includes(figure) ?? true);
  const judged = asked.map(([figure, bound]) => {
    const value = figures[figure];
    if (value === undefined) throw new Error(`${name} has a target for ${figure} and did not measure it`);
    const holds = bound.at_least === undefined ? value <= bound.at_most : value >= bound.at_least;
    return [figure, { ...bound, value, holds }] as const;
  });
  return { bench: name, conditions, figures, targets: Object.fromEntries(judged) };
}

/** A report for people. */
export function tableOf(report: Report): string {
  const conditions = Object.entries(report.conditions).map(([name, value]) => [name, String(value), ""]);
  const figures = Object.entries(report.figures).map(([name, value]) => {
    const target = report.targets[name];
    return [name, String(value), target ? targetText(target) : ""];
  });
  const rows = [...conditions, ["", "", ""], ...figures];
  const widths = [0, 1].map((column) => Math.max(...figures.map((row) => row[column]!.length), 24));
  return rows
    .map((row) => `${row[0]!.padEnd(widths[0]!)}  ${row[1]!.padEnd(widths[1]!)}  ${row[2]}`.trimEnd())
    .join("\n");
}

function targetText(target: Bound & { readonly holds: boolean }): string {
  const bound = target.at_least === undefined ? `≤ ${target.at_most}` : `≥ ${target.at_least}`;
  return `${bound} ${target.holds ? "holds" : "MISSED"}`;
}
