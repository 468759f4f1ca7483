/**
 * Creates the rule by which classes of calls share a limit: each may take all but what is kept for the others. `percent`: what
 * is kept for each class; the rest is for whoever comes.
 */
export function createShares<Class extends string>(percent: Readonly<Record<Class, number>>) {
  const classes = Object.keys(percent) as Class[];
  const reserveOf = (of: Class, limit: number) => Math.floor((limit * percent[of]) / 100);
  return {
    /** Returns how much of a limit is kept for a class. */
    reserveOf,
    /** Returns how much a class may still take: what is left without the unspent reserves of the others. */
    left(counts: Readonly<Record<Class, number>>, of: Class, limit: number): number {
      const taken = classes.map((each) => Math.max(counts[each], each === of ? 0 : reserveOf(each, limit)));
      return Math.max(0, limit - taken.reduce((sum, count) => sum + count, 0));
    },
    /** Returns `left` as an expression over a counter's document, for `take`. It may be less than 0. */
    leftIn(of: Class, limit: number): object {
      const taken = classes.map((each) => ({ $max: [`$${each}`, each === of ? 0 : reserveOf(each, limit)] }));
      return { $subtract: [limit, { $add: taken }] };
    },
  };
}
