/** How a step of the matcher goes on: from a position, to the end of the match or nothing. */
type Continue = (at: number) => boolean;
type Node = (at: number, next: Continue) => boolean;

/** One atom: an escape, a class, or any other character. */
const ATOM =
  /\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|k<[^>]*>|.)|\[(?:\\.|[^\]\\])*\]|[\s\S]/uy;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})(\??)/y;

/**
 * Returns how often a backtracking engine compares a character when it searches a text for a pattern: the work of a regular
 * expression in steps, which no clock can tell. Knows what the patterns of the product use.
 */
export function regExpSteps({ source, flags, lastIndex }: RegExp, text: string): number {
  const isUnicode = /[uv]/.test(flags);
  let steps = 0;
  let place = 0;
  let groups = 0;
  const captured: (string | undefined)[] = [];

  function read(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = place;
    const found = pattern.exec(source);
    if (!found) return undefined;
    place = pattern.lastIndex;
    return found;
  }

  function take(literal: string): boolean {
    if (!source.startsWith(literal, place)) return false;
    place += literal.length;
    return true;
  }

  function alternatives(): Node {
    const all = [sequence()];
    while (take("|")) all.push(sequence());
    return all.length === 1 ? all[0]! : (at, next) => all.some((one) => one(at, next));
  }

  function sequence(): Node {
    const nodes: Node[] = [];
    while (place < source.length && source[place] !== "|" && source[place] !== ")") nodes.push(term());
    return nodes.reduceRight<Node>(
      (rest, node) => (at, next) => node(at, (then) => rest(then, next)),
      (at, next) => next(at),
    );
  }

  function term(): Node {
    if (take("^")) return (at, next) => (at === 0 || (flags.includes("m") && text[at - 1] === "\n")) && next(at);
    if (take("$")) return (at, next) => (at === text.length || (flags.includes("m") && text[at] === "\n")) && next(at);
    if (take("\\b")) return (at, next) => isWord(text[at - 1]) !== isWord(text[at]) && next(at);
    for (const [opening, isWanted] of [
      ["(?=", true],
      ["(?!", false],
    ] as const) {
      if (take(opening)) return lookAhead(closed(alternatives()), isWanted);
    }
    for (const [opening, isWanted] of [
      ["(?<=", true],
      ["(?<!", false],
    ] as const) {
      if (take(opening)) return lookBehind(closed(alternatives()), isWanted);
    }
    if (take("(?:")) return quantified(closed(alternatives()));
    if (source[place] === "(") {
      read(/\((?:\?<[^>]*>)?/y);
      const index = ++groups;
      return quantified(capture(closed(alternatives()), index));
    }
    return quantifiedAtom(read(ATOM)![0]);
  }

  function closed(node: Node): Node {
    if (!take(")")) throw new Error(`can't read /${source}/ at ${place}`);
    return node;
  }

  const capture =
    (node: Node, index: number): Node =>
    (at, next) =>
      node(at, (end) => {
        captured[index] = text.slice(at, end);
        return next(end);
      });
  const lookAhead =
    (node: Node, isWanted: boolean): Node =>
    (at, next) =>
      node(at, () => true) === isWanted && next(at);
  /** Of one character, as all of ours. */
  const lookBehind =
    (node: Node, isWanted: boolean): Node =>
    (at, next) =>
      (at > 0 && node(at - 1, (end) => end === at)) === isWanted && next(at);

  function quantifier(): { min: number; max: number; isLazy: boolean } | undefined {
    const found = read(QUANTIFIER);
    if (!found) return undefined;
    const [all, from, comma, to, lazy] = found;
    const isLazy = lazy === "?";
    if (from !== undefined) {
      return { min: Number(from), max: to ? Number(to) : comma ? Number.POSITIVE_INFINITY : Number(from), isLazy };
    }
    return { min: all[0] === "+" ? 1 : 0, max: all[0] === "?" ? 1 : Number.POSITIVE_INFINITY, isLazy };
  }

  function quantified(node: Node): Node {
    const range = quantifier();
    if (!range) return node;
    const { min, max, isLazy } = range;
    const repeat = (count: number, at: number, next: Continue): boolean => {
      const more = () => count < max && node(at, (end) => (end > at || count < min) && repeat(count + 1, end, next));
      if (count < min) return more();
      return isLazy ? next(at) || more() : more() || next(at);
    };
    return (at, next) => repeat(0, at, next);
  }

  /** Without recursion, so that a long text does not overflow the stack. */
  function quantifiedAtom(atom: string): Node {
    const reference = /^\\([1-9])$/.exec(atom)?.[1];
    const one = reference ? afterReference(Number(reference)) : afterCharacter(atom);
    const { min, max, isLazy } = quantifier() ?? { min: 1, max: 1, isLazy: false };
    return (at, next) => {
      const ends = [at];
      while (ends.length <= max) {
        if (isLazy && ends.length > min && next(ends.at(-1)!)) return true;
        const end = one(ends.at(-1)!);
        if (end === undefined) break;
        ends.push(end);
      }
      for (let count = ends.length - 1; !isLazy && count >= min; count--) if (next(ends[count]!)) return true;
      return false;
    };
  }

  function afterCharacter(atom: string): (at: number) => number | undefined {
    const pattern = new RegExp(`^(?:${atom})$`, flags.replaceAll(/[gymd]/g, ""));
    return (at) => {
      steps += 1;
      if (at >= text.length) return undefined;
      const character = isUnicode ? String.fromCodePoint(text.codePointAt(at)!) : text[at]!;
      return pattern.test(character) ? at + character.length : undefined;
    };
  }

  const afterReference = (index: number) => (at: number) => {
    const wanted = captured[index] ?? "";
    steps += wanted.length;
    return wanted !== "" && text.startsWith(wanted, at) ? at + wanted.length : undefined;
  };

  const matcher = alternatives();
  const isSticky = flags.includes("y");
  for (let start = /[gy]/.test(flags) ? lastIndex : 0; start <= text.length; start++) {
    steps += 1;
    if (matcher(start, () => true) || isSticky) break;
    // An engine tries a pattern that begins with ^ once.
    if (source.startsWith("^") && !flags.includes("m")) break;
  }
  return steps;
}

const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);
