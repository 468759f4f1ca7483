import type { Violation } from "@vvs/errors";
import { showKey } from "./violations.ts";

/** Returns the query parameters of a URL, and a problem for each that is repeated or empty. */
export function readQuery(url: string): { values: Record<string, string>; problems: Violation[] } {
  const start = url.indexOf("?");
  // The constructor drops a question mark at the beginning, so the URL's own one is passed on.
  const pairs = start < 0 ? [] : [...new URLSearchParams(url.slice(start))];
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const [name] of pairs) (seen.has(name) ? repeated : seen).add(name);
  const empty = pairs.filter(([, value]) => value.trim() === "").map(([name]) => name);
  const problems = [
    ...[...repeated].map((name) => ({ path: showKey(name), message: "must be given once" })),
    ...empty.map((name) => ({ path: showKey(name), message: "must not be empty" })),
  ];
  return { values: Object.fromEntries(pairs), problems };
}

/** Returns a problem for each query parameter of a URL that takes none. */
export function unknownParameters(url: string): Violation[] {
  return Object.keys(readQuery(url).values).map((name) => ({
    path: showKey(name),
    message: "is an unknown parameter",
  }));
}
