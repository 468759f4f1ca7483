import type { Servers } from "../../../deploy/local/servers/index.ts";
import type { Bound, Measured } from "../benchmark.ts";

/** One measurement, with its own databases and topics. */
export interface Row {
  /** Also the argument that selects the row. */
  readonly name: string;
  /** Under which conditions it measures. */
  readonly conditions: Measured["conditions"];
  readonly targets: Readonly<Record<string, Bound>>;
  measure(bench: RowBench): Promise<Readonly<Record<string, number>>>;
}

export interface RowBench {
  readonly servers: Servers;
  /** Prefix of the row's databases and, followed by a dot, of its topics. The databases are dropped afterwards. */
  readonly prefix: string;
  /** Folder for the row's files; removed afterwards. */
  readonly folder: string;
  /** Number of rows of a registry, if it is not the row's own. */
  readonly rows: number | undefined;
  readonly log: (line: string) => void;
  /** Registers a close. Closes run in reverse order when the row is done or has failed. */
  readonly onClose: (close: () => Promise<unknown>) => void;
}
