import { normalizeIdentifier } from "@vvs/identifiers";

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Maximum number of paths returned. Answers list no more, and the work for one body stays bounded. */
const MAX_PATHS = 100;

/** An object or array that the scan is inside. */
interface Frame {
  /** The members seen so far; undefined for an array. */
  readonly members: Map<string, Member> | undefined;
  /** Name of the current member; undefined before it is read, and in an array. */
  key: string | undefined;
  /** Index of the current element or member. */
  index: number;
  valueStart: number;
}

/** The text of a value, and its canonical form once it was compared; undefined after a contradiction. */
type Member = { readonly text: string; canonical?: string } | undefined;

/**
 * Returns the paths of members that a JSON text gives more than once with different values, such as identifiers.uei.
 * JSON.parse would silently take the last value. The text must be valid JSON.
 */
export function contradictingPaths(text: string): string[] {
  const paths = new Set<string>();
  const frames: Frame[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const frame = frames.at(-1);
    if (token === "{" || token === "[") {
      const members: Frame["members"] = token === "{" ? new Map() : undefined;
      frames.push({ members, key: undefined, index: 0, valueStart: index + 1 });
    } else if (token === ":") {
      frame!.valueStart = index + 1;
    } else if (token === "," || token === "}" || token === "]") {
      if (endsContradiction(frames, text.slice(frame!.valueStart, index))) paths.add(pathOf(frames));
      if (paths.size >= MAX_PATHS) break;
      if (token === ",") Object.assign(frame!, { key: undefined, index: frame!.index + 1 });
      else frames.pop();
    } else if (frame?.members && frame.key === undefined) {
      frame.key = JSON.parse(token) as string;
    }
  }
  return [...paths];
}

/** Notes the value that ends here. Returns whether it is the first that differs from an earlier one of the same member. */
function endsContradiction(frames: readonly Frame[], text: string): boolean {
  const { members, key } = frames.at(-1)!;
  if (!members || key === undefined) return false;
  if (!members.has(key)) {
    members.set(key, { text });
    return false;
  }
  const earlier = members.get(key);
  if (!earlier) return false;
  const isIdentifier = frames.length === 2 && frames[0]!.key === "identifiers";
  earlier.canonical ??= canonical(earlier.text, isIdentifier);
  if (earlier.canonical === canonical(text, isIdentifier)) return false;
  members.set(key, undefined);
  return true;
}

function pathOf(frames: readonly Frame[]): string {
  return frames.reduce((path, { key, index }) => {
    if (key === undefined) return `${path}[${index}]`;
    return path === "" ? key : `${path}.${key}`;
  }, "");
}

/** Returns a text that is equal for equal values, and for two spellings of one identifier. */
function canonical(text: string, isIdentifier: boolean): string {
  const value: unknown = JSON.parse(text);
  return JSON.stringify(isIdentifier && typeof value === "string" ? normalizeIdentifier(value) : value);
}
