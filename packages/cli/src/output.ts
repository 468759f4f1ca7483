import { errorJson, errorText } from "./error-text.ts";

/** The part of a stream that the output needs. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Output = ReturnType<typeof createOutput>;

/** Returns where commands print: results to `stdout`, everything else to `stderr`. */
export function createOutput({ stdout, stderr, json }: { stdout: Sink; stderr: Sink; json: boolean }) {
  return {
    json,
    /** Terminal for progress; undefined without one. */
    terminal: stderr.isTTY && !json ? stderr : undefined,
    /** Prints a result: as one line of JSON, or as text for people. */
    result(value: unknown, text: () => string): void {
      stdout.write(`${json ? JSON.stringify(value) : printable(text())}\n`);
    },
    /** Prints a remark for people. */
    note(text: string): void {
      if (!json) stderr.write(`${printable(text)}\n`);
    },
    /** Prints a warning, for scripts too. */
    warning(text: string): void {
      stderr.write(`${json ? JSON.stringify({ warning: text }) : printable(`Warning: ${text}`)}\n`);
    },
    /** Prints an error in one line. */
    error(error: unknown): void {
      stderr.write(
        `${json ? JSON.stringify(errorJson(error)) : printable(errorText(error).replaceAll(/\s+/g, " "))}\n`,
      );
    },
  };
}

/** Returns rows as aligned columns below a header. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((cells) => cells.map((cell) => cell.replaceAll(/\s/g, " ")));
  const widths = header.map((_, column) => lines.reduce((widest, cells) => Math.max(widest, cells[column]!.length), 0));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Returns a line for each value that is there, below each other. */
export function fieldLines(fields: readonly (readonly [label: string, value: unknown])[]): string {
  const given = fields.filter(([, value]) => value !== undefined && value !== "");
  const width = Math.max(...given.map(([label]) => label.length));
  return given.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join("\n");
}

/** Replaces control characters, with which a name could change what a terminal shows. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, " ");
}
