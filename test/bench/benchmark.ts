/** Bound that a figure must meet. */
export type Bound =
  | { readonly at_least: number; readonly at_most?: undefined }
  | { readonly at_most: number; readonly at_least?: undefined };

export interface Measured {
  /** What was compared, and under which conditions. */
  readonly conditions: Readonly<Record<string, string | number | boolean>>;
  /** Names end in their unit. */
  readonly figures: Readonly<Record<string, number>>;
  /** Figures that this run is judged by, if its arguments chose a part. Absent: all figures with a target. */
  readonly judged?: readonly string[];
}

export interface Benchmark {
  readonly name: string;
  /** One phrase: what is measured, and against which baseline. */
  readonly about: string;
  /** Arguments after the name, such as `--names FILE`. Absent: it takes none. */
  readonly usage?: string;
  /** By figure name. Figures without a target are only reported. */
  readonly targets: Readonly<Record<string, Bound>>;
  /** Measures. Errors: UsageError for invalid arguments. */
  run(log: (line: string) => void, args: readonly string[]): Promise<Measured>;
}

/** Thrown for invalid arguments of a benchmark. */
export class UsageError extends Error {}

export interface Report extends Measured {
  readonly bench: string;
  readonly targets: Readonly<Record<string, Bound & { readonly value: number; readonly holds: boolean }>>;
}

/** Compares the figures with the targets. Errors: a figure with a target was not measured. */
export function reportOf({ name, targets }: Benchmark, measured: Measured): Report {
  const { conditions, figures, judged: chosen } = measured;
  const applicable = Object.entries(targets).filter(([figure]) => chosen?.includes(figure) ?? true);
  const judged = applicable.map(([figure, bound]) => {
    const value = figures[figure];
    if (value === undefined) throw new Error(`${name} has a target for ${figure} but did not measure it`);
    const holds = bound.at_least === undefined ? value <= bound.at_most : value >= bound.at_least;
    return [figure, { ...bound, value, holds }] as const;
  });
  return { bench: name, conditions, figures, targets: Object.fromEntries(judged) };
}

/** Formats a report as a table. */
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
