import { stateBefore } from "../places.ts";
import { directionOf, isPlainSuffix } from "./usps.ts";

const roads = ["HIGHWAY", "HWY", "ROUTE", "RTE", "RT", "ROAD", "RD", "TRUNK HIGHWAY"];
const owners = [
  ...[
    "US",
    "U S",
    "UNITED STATES",
    "STATE",
    "ST",
    "COUNTY",
    "CO",
    "CTY",
    "CNTY",
    "COUNTRY",
    "CITY",
    "TOWNSHIP",
    "TOWN",
  ],
  ...["FOREST", "INTERSTATE"],
];

/** Names of numbered roads, longest first; people do not keep to the forms of USPS. */
const called = [
  ...[
    "FARM TO MARKET ROAD",
    "FARM TO MARKET RD",
    "FARM TO MARKET",
    "FM ROAD",
    "FM RD",
    "RANCH TO MARKET",
    "RANCH ROAD",
  ],
  ...["BUSINESS LOOP", "US BUSINESS", "US OLD", "HIGHWAY US", "HWY US"],
  ...["OLD US HIGHWAY", "OLD STATE ROUTE", "OLD HIGHWAY", "OLD HWY", "OLD ROUTE", "OLD RT"],
  ...owners.flatMap((owner) => roads.map((road) => `${owner} ${road}`)),
  ...roads.slice(0, -1),
  ...["INTERSTATE", "BUSINESS", "FM", "SR", "CR", "SH", "CH", "US", "C R", "S R", "STATE", "I", "IH", "I H"],
  ...["USH", "STH", "CTH", "CARR", "CARRETERA", "LOOP", "SPUR"],
  ...["AVENUE", "AVE"],
]
  .map((words) => words.split(" "))
  .sort((a, b) => b.length - a.length);
const byFirst = Map.groupBy(called, (run) => run[0]!);
const county = /^(?:COUNTY|CO|CTY|CNTY|COUNTRY|CR|C|CH|CTH|TOWNSHIP|TOWN)$/;
const behind = /^(?:HIGHWAY|HWY|RD|ROAD|RTE|ROUTE|BUSINESS|BUS|BSNSS|ALT|BYP|BYPASS|FRONTAGE|SERVICE|SVC|ACCESS)$/;

interface Highway {
  readonly name: readonly string[];
  readonly type: string;
  readonly next: number;
}

/** Reads a road that is named by a number or a letter, if one begins at `at`. */
export function readHighway(words: readonly string[], at: number): Highway | undefined {
  const coded = codedHighway(words, at);
  if (coded) return coded;
  const start = at + stateLength(words, at);
  const run = byFirst.get(words[start]!)?.find((name) => name.every((word, index) => words[start + index] === word));
  if (!run) return undefined;
  const isSign = /^(?:NO|NUMBER|#)$/.test(words[start + run.length] ?? "");
  const idAt = start + run.length + (isSign ? 1 : 0);
  const id = words[idAt];
  if (id === undefined || !isRoadId(id, run)) return undefined;
  const type = run[0]!.startsWith("AV") ? "AVE" : county.test(run[0]!) ? "CR" : "HWY";
  return { name: [id.replace(/^[A-Z]-/, "")], type, next: endOf(words, idAt + 1) };
}

/** The words of an address with each numbered road in one form: `IH-35`, `I 35` and `INTERSTATE 35` are HWY 35. */
export function withHighways(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length; ) {
    const highway = readHighway(words, at);
    found.push(...(highway ? [highway.type, ...highway.name] : [words[at]!]));
    at = highway?.next ?? at + 1;
  }
  return found;
}

/** "TX 71" or "M-59", right after the house number or a direction: elsewhere it is the state, a court or a unit. */
function codedHighway(words: readonly string[], at: number): Highway | undefined {
  const [word, id, before] = [words[at]!, words[at + 1] ?? "", words[at - 1] ?? ""];
  const isStart = /^\d/.test(before) || (directionOf(before) !== undefined && /^\d/.test(words[at - 2] ?? ""));
  if (!isStart) return undefined;
  const hyphenated = /^[A-Z]{1,4}-(\d{1,4}[A-Z]?)$/.exec(word)?.[1];
  if (hyphenated) return { name: [hyphenated], type: "HWY", next: endOf(words, at + 1) };
  if (word.length !== 2 || !/^\d{1,3}[A-Z]?$/.test(id) || stateBefore([word], 1) === undefined) return undefined;
  return { name: [id], type: "HWY", next: endOf(words, at + 2) };
}

/** Words behind the number that are part of the road's name. */
function endOf(words: readonly string[], from: number): number {
  let next = from;
  while (behind.test(words[next] ?? "")) next++;
  return next;
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
const bare = new Set(["ROAD", "RD", "US", "STATE", "I", "IH", "USH", "STH", "CARR", "LOOP", "SPUR"]);

function isRoadId(word: string, run: readonly string[]): boolean {
  const first = run[0]!;
  // "Avenue H" is a road's name, "Avenue 5" hardly; "Highway 12A" and "County Road DB" are.
  if (first.startsWith("AV")) return /^[A-Z]$/.test(word) && !/^[NSEW]$/.test(word);
  if (/^\d{1,4}[A-Z]?$/.test(word)) return true;
  if (run.length > 1) return /^[A-Z]{1,2}$/.test(word) && !isPlainSuffix(word);
  return !bare.has(first) && /^(?:\d{5}|[A-Z]|([A-Z])\1|[A-Z]-?\d+[A-Z]?)$/.test(word);
}
