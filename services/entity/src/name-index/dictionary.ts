/** The words of all names, each with a number. */
export interface Dictionary {
  readonly size: number;
  idOf(word: string): number | undefined;
  wordAt(id: number): string;
  /** The number of a word, a new one where it has none. */
  add(word: string): number;
}

export function createDictionary(): Dictionary {
  const ids = new Map<string, number>();
  const words: string[] = [];
  return {
    get size() {
      return words.length;
    },
    idOf: (word) => ids.get(word),
    wordAt: (id) => words[id]!,
    add(word) {
      const known = ids.get(word);
      if (known !== undefined) return known;
      // A piece of a longer text would keep the whole of it in memory.
      const own = Buffer.from(word).toString();
      ids.set(own, words.length);
      words.push(own);
      return words.length - 1;
    },
  };
}
