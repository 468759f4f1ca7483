import type { Violation } from "@vvs/errors";

/** Returns the query parameters of a URL, and a problem for each that is repeated or empty. */
export function readQuery(url: string): { values: Record<string, string>; problems: Violation[] } {
  const start = url.indexOf("?");
  const pairs = start < 0 ? [] : [...new URLSearchParams(url.slice(start + 1))];
  const names = pairs.map(([name]) => name);
  const problems = [...new Set(names)]
    .filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
    .map((name) => ({ path: name, message: "must be given once" }));
  for (const [name, value] of pairs) {
    if (value.trim() === "") problems.push({ path: name, message: "must not be empty" });
  }
  return { values: Object.fromEntries(pairs), problems };
}
