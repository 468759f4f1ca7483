import { RegistryFileError } from "./errors.ts";

/** Maximum share of a file's rows that can't be read; one row is always accepted. */
const MAX_UNREADABLE_SHARE = 0.01;
/** Number of reasons in a refusal. */
const REASONS_SHOWN = 3;

/** Counts the rows of a file that can and can't be read. */
export function createRowTally() {
  let readable = 0;
  let unreadable = 0;
  const reasons: string[] = [];
  return {
    /** Counts a row; `reason` says why it can't be read. */
    add(lineNumber: number, reason: string | undefined): void {
      if (reason === undefined) readable++;
      else {
        unreadable++;
        if (reasons.length < REASONS_SHOWN) reasons.push(`line ${lineNumber}: ${reason}`);
      }
    },
    /** Returns the counts. Errors: RegistryFileError if no row can be read, or too many can't. */
    finish(fileName: string): { readable: number; unreadable: number } {
      const rows = readable + unreadable;
      const most = Math.max(1, rows * MAX_UNREADABLE_SHARE);
      if (readable > 0 && unreadable <= most) return { readable, unreadable };
      if (rows === 0) throw new RegistryFileError(`${fileName} has no rows`);
      throw new RegistryFileError(
        `${unreadable} of the ${rows} rows of ${fileName} can't be read, so nothing was loaded (${reasons.join("; ")})`,
      );
    },
  };
}
