import { stateBefore } from "./places.ts";
import { isPlainSuffix } from "./usps.ts";

const roads = ["HIGHWAY", "HWY", "ROUTE", "RTE", "RT", "ROAD", "RD", "TRUNK HIGHWAY"];
const owners = ["US", "UNITED STATES", "STATE", "COUNTY", "CO", "COUNTRY", "CITY", "TOWNSHIP", "TOWN", "FOREST"];

/** Names of numbered roads, longest first; people do not keep to the forms of USPS. */
const called = [
  ...["FARM TO MARKET ROAD", "FARM TO MARKET", "RANCH ROAD", "BUSINESS LOOP", "US BUSINESS", "US OLD"],
  ...["OLD US HIGHWAY", "OLD STATE ROUTE", "OLD HIGHWAY", "OLD HWY", "OLD ROUTE", "OLD RT"],
  ...owners.flatMap((owner) => roads.map((road) => `${owner} ${road}`)),
  ...roads.slice(0, -1),
  ...["INTERSTATE", "BUSINESS", "FM", "SR", "CR", "SH", "CH", "US", "C R", "S R", "STATE", "I", "LOOP", "SPUR"],
  ...["AVENUE", "AVE"],
]
  .map((words) => words.split(" "))
  .sort((a, b) => b.length - a.length);
const byFirst = Map.groupBy(called, (run) => run[0]!);
const county = /^(?:COUNTY|CO|COUNTRY|CR|C|CH|TOWNSHIP|TOWN)$/;

/** Reads a road that is named by a number or a letter, if one begins at `at`. */
export function readHighway(
  words: readonly string[],
  at: number,
): { name: readonly string[]; type: string; next: number } | undefined {
  const start = at + stateLength(words, at);
  const run = byFirst.get(words[start]!)?.find((name) => name.every((word, index) => words[start + index] === word));
  if (!run) return undefined;
  const isSign = /^(?:NO|NUMBER|#)$/.test(words[start + run.length] ?? "");
  const idAt = start + run.length + (isSign ? 1 : 0);
  const id = words[idAt];
  if (id === undefined || !isRoadId(id, run)) return undefined;
  const type = run[0]!.startsWith("AV") ? "AVE" : county.test(run[0]!) ? "CR" : "HWY";
  let next = idAt + 1;
  while (/^(?:HIGHWAY|HWY|RD|ROAD|RTE|ROUTE|BUSINESS|BUS|BSNSS|ALT|BYP|BYPASS)$/.test(words[next] ?? "")) next++;
  return { name: [id], type, next };
}

/** The number of words of a state before a highway: "Indiana Highway 212", "NC Hwy 54". */
function stateLength(words: readonly string[], at: number): number {
  for (const length of [1, 2]) {
    if (!/^(?:HIGHWAY|HWY|ROUTE|RTE)$/.test(words[at + length] ?? "")) continue;
    if (stateBefore(words.slice(at, at + length), length)?.length === length) return length;
  }
  return 0;
}

/** Words that form a road's name with a number but not with a letter: "Road 20", but not "Road A". */
const bare = new Set(["ROAD", "RD", "US", "STATE", "I", "LOOP", "SPUR"]);

function isRoadId(word: string, run: readonly string[]): boolean {
  const first = run[0]!;
  // "Avenue H" is a road's name, "Avenue 5" hardly; "Highway 12A" and "County Road DB" are.
  if (first.startsWith("AV")) return /^[A-Z]$/.test(word) && !/^[NSEW]$/.test(word);
  if (/^\d{1,4}[A-Z]?$/.test(word)) return true;
  if (run.length > 1) return /^[A-Z]{1,2}$/.test(word) && !isPlainSuffix(word);
  return !bare.has(first) && /^(?:\d{5}|[A-Z]|([A-Z])\1|[A-Z]-?\d+[A-Z]?)$/.test(word);
}
