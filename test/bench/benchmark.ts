import type { Servers } from "../../deploy/local/servers/index.ts";

/** Bound that a figure must meet. */
export type Bound =
  | { readonly at_least: number; readonly at_most?: undefined }
  | { readonly at_most: number; readonly at_least?: undefined };
export type Bounds = Readonly<Record<string, Bound>>;

/** What was compared, and how. */
export type Conditions = Readonly<Record<string, string | number | boolean>>;
/** By name; names end in their unit. */
export type Figures = Readonly<Record<string, number>>;

export interface Benchmark {
  readonly name: string;
  /** One phrase: what is measured, and against which baseline. */
  readonly about: string;
  readonly conditions?: Conditions;
  /** Measured one after another. */
  readonly rows: readonly Row[];
}

/** One measurement of a benchmark, with its own databases and topics. */
export interface Row<Size extends string = string, B = RowBench> {
  /** Also the argument that selects the row. */
  readonly name: string;
  /** Conditions of this row, in addition to those of its benchmark and its sizes. */
  readonly conditions?: Conditions;
  /** Numbers that differ in the short form of `npm run bench -- all`. Each is also an option, such as `--rounds 2`. */
  readonly sizes?: Readonly<Record<Size, { readonly long: number; readonly short: number }>>;
  /** Files that must be given, as options such as `--names FILE`; the row is left out without them. */
  readonly files?: readonly string[];
  /** False for a row that measures in this process alone. */
  readonly usesServers?: false;
  /** By figure name. Figures without a target are only reported. */
  readonly targets: Bounds | ((sizes: Readonly<Record<Size, number>>) => Bounds);
  /** Measures. Errors: UsageError for sizes or files that it can't use. */
  measure(bench: B, sizes: Readonly<Record<Size, number>>): Promise<Figures>;
}

export interface RowBench {
  readonly servers: Servers;
  /** Prefix of the row's databases, of its keys in Redis and, followed by a dot, of its topics. All are removed afterwards. */
  readonly prefix: string;
  /** Folder for the row's files; removed afterwards. */
  readonly folder: string;
  /** Paths of the row's files, by option. */
  readonly files: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
  /** Registers a close. Closes run in reverse order when the row is done or has failed. */
  readonly onClose: (close: () => unknown) => void;
  /** Returns what rows of a benchmark prepare once, under a name, and share until the last row is done. */
  readonly share: <T>(name: string, prepare: (bench: RowBench) => Promise<T>) => Promise<T>;
}

/** Thrown for invalid arguments of a benchmark. */
export class UsageError extends Error {}

export type Targets = Readonly<Record<string, Bound & { readonly value: number; readonly holds: boolean }>>;

/** What a row measured, or why it could not. */
export interface Measured {
  readonly row: string;
  readonly conditions: Conditions;
  readonly sizes: Readonly<Record<string, number>>;
  readonly figures: Figures;
  readonly targets: Targets;
  readonly failure?: string;
}

/** Compares figures with bounds. Errors: a figure with a bound was not measured. */
export function judge(bounds: Bounds, figures: Figures): Targets {
  const judged = Object.entries(bounds).map(([figure, bound]) => {
    const value = figures[figure];
    if (value === undefined) throw new Error(`it has a target for ${figure} but did not measure it`);
    const holds = bound.at_least === undefined ? value <= bound.at_most : value >= bound.at_least;
    return [figure, { ...bound, value, holds }] as const;
  });
  return Object.fromEntries(judged);
}

export interface Report {
  readonly bench: string;
  readonly conditions: Conditions;
  readonly figures: Figures;
  readonly targets: Targets;
  /** Why rows could not be measured, by row. */
  readonly failures: Readonly<Record<string, string>>;
}

/** Puts the rows of a benchmark together. */
export function reportOf({ name, conditions }: Benchmark, rows: readonly Measured[]): Report {
  const merged = <T>(of: (row: Measured) => Readonly<Record<string, T>>): Record<string, T> =>
    Object.assign({}, ...rows.map(of));
  const failed = rows.flatMap(({ row, failure }) => (failure === undefined ? [] : [[row, failure] as const]));
  return {
    bench: name,
    conditions: { ...conditions, ...merged((row) => row.sizes), ...merged((row) => row.conditions) },
    figures: merged((row) => row.figures),
    targets: merged((row) => row.targets),
    failures: Object.fromEntries(failed),
  };
}

/** Returns whether everything was measured and no target was missed. */
export const holds = ({ targets, failures }: Report): boolean =>
  Object.keys(failures).length === 0 && Object.values(targets).every((target) => target.holds);

/** Formats a report as a table. */
export function tableOf(report: Report): string {
  const conditions = Object.entries(report.conditions).map(([name, value]) => [name, String(value), ""]);
  const figures = Object.entries(report.figures).map(([name, value]) => {
    const target = report.targets[name];
    return [name, String(value), target ? `${boundText(target)} ${target.holds ? "holds" : "MISSED"}` : ""];
  });
  const failures = Object.entries(report.failures).map(([row, why]) => [row, "FAILED", why]);
  const rows = [...conditions, ["", "", ""], ...figures, ...failures];
  const widths = [0, 1].map((column) => Math.max(...figures.map((row) => row[column]!.length), 24));
  return rows
    .map((row) => `${row[0]!.padEnd(widths[0]!)}  ${row[1]!.padEnd(widths[1]!)}  ${row[2]}`.trimEnd())
    .join("\n");
}

export const boundText = (bound: Bound): string =>
  bound.at_least === undefined ? `≤ ${bound.at_most}` : `≥ ${bound.at_least}`;
