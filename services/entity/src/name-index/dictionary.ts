/** The words of all names, each with a number. */
export interface Dictionary {
  readonly size: number;
  idOf(word: string): number | undefined;
  wordAt(id: number): string;
  /** Returns the number of a word; gives a new word the next number. */
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
      // A slice of a longer text would keep all of it in memory.
      const own = Buffer.from(word).toString();
      ids.set(own, words.length);
      words.push(own);
      return words.length - 1;
    },
  };
}
