/** Returns a `run` for createBatcher that processes the items of each key together. The results are in the items' order. */
export function byKey<T, R>(keyOf: (item: T) => string, run: (items: readonly T[]) => Promise<readonly R[]>) {
  return async (items: readonly T[]): Promise<R[]> => {
    const results = new Map<number, R>();
    const groups = Map.groupBy(items.keys(), (place) => keyOf(items[place]!));
    const runGroup = async (places: readonly number[]) => {
      const ofGroup = await run(places.map((place) => items[place]!));
      for (const [index, place] of places.entries()) results.set(place, ofGroup[index]!);
    };
    await Promise.all([...groups.values()].map(runGroup));
    return items.map((_item, place) => results.get(place)!);
  };
}
