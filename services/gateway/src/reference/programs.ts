import { readFileSync } from "node:fs";

/** Returns the text of a program of the page, without the last line break. */
export function program(name: string): string {
  return readFileSync(new URL(`programs/${name}`, import.meta.url), "utf8").trimEnd();
}
