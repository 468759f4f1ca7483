import { normalizeIdentifier } from "@vvs/identifiers";

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** A client sees no more of them; finding more would be work without end in a body of nothing else. */
const MAX_FOUND = 100;

interface Frame {
  /** Members seen so far with the text of their values; undefined for an array. */
  readonly members: Map<string, Member> | undefined;
  /** The member or index the scan is in. */
  key: string;
  index: number;
  valueStart: number;
}

/** The text of a value, and once it was compared its canonical form; undefined where another value contradicted it. */
type Member = { readonly text: string; canonical?: string } | undefined;

/**
 * Where a JSON text gives one member twice with different values, as paths such as identifiers.uei. JSON.parse would
 * silently take the last one. The text must be one that JSON.parse accepts.
 */
export function contradictingPaths(text: string): string[] {
  const found = new Set<string>();
  const frames: Frame[] = [];
  let expectsKey = false;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (found.size >= MAX_FOUND) break;
    const frame = frames.at(-1);
    if (frame?.members && expectsKey && token.startsWith('"')) {
      frame.key = JSON.parse(token);
      expectsKey = false;
      continue;
    }
    if (token === ":" || ((token === "," || token === "}" || token === "]") && frame)) {
      if (token === ":") frame!.valueStart = index + 1;
      else endValue(frames, text.slice(frame!.valueStart, index), found);
    }
    if (token === "{" || token === "[") {
      frames.push({ members: token === "{" ? new Map() : undefined, key: "", index: 0, valueStart: index + 1 });
      expectsKey = token === "{";
    } else if (token === "}" || token === "]") {
      frames.pop();
      expectsKey = false;
    } else if (token === ",") {
      expectsKey = frame?.members !== undefined;
      frame!.index += 1;
      frame!.valueStart = index + 1;
    }
  }
  return [...found];
}

function endValue(frames: readonly Frame[], text: string, found: Set<string>): void {
  const { members, key } = frames.at(-1)!;
  if (!members || text.trim() === "") return;
  if (!members.has(key)) {
    members.set(key, { text });
    return;
  }
  const earlier = members.get(key);
  if (!earlier) return; // contradicted already
  const isIdentifier = frames.length === 2 && frames[0]!.key === "identifiers";
  earlier.canonical ??= canonical(earlier.text, isIdentifier);
  if (earlier.canonical === canonical(text, isIdentifier)) return;
  members.set(key, undefined);
  found.add(pathOf(frames));
}

function pathOf(frames: readonly Frame[]): string {
  return frames.reduce((path, { members, key, index }) => {
    if (!members) return `${path}[${index}]`;
    return path === "" ? key : `${path}.${key}`;
  }, "");
}

/** Equal for equal values; two spellings of one identifier are the same identifier. */
function canonical(text: string, isIdentifier: boolean): string {
  const value: unknown = JSON.parse(text);
  return JSON.stringify(isIdentifier && typeof value === "string" ? normalizeIdentifier(value) : value);
}
