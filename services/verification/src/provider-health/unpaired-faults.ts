/** The faults of one input that no fault of another input has been paired with. */
export interface UnpairedFaults {
  readonly input: string;
  /** At least 1. */
  readonly count: number;
}

/**
 * Adds a fault of an input. One input can fail any number of times although the provider is healthy, so the faults of one
 * input count for at most one more than those of all others: the first unpaired fault counts, and each further one only
 * once another input fails too. Returns how many faults count that did not count before, and the unpaired ones.
 */
export function addFault(
  unpaired: UnpairedFaults | undefined,
  input: string,
): { counted: 0 | 1 | 2; unpaired: UnpairedFaults | undefined } {
  if (!unpaired) return { counted: 1, unpaired: { input, count: 1 } };
  if (unpaired.input === input) return { counted: 0, unpaired: { input, count: unpaired.count + 1 } };
  if (unpaired.count === 1) return { counted: 1, unpaired: undefined };
  return { counted: 2, unpaired: { ...unpaired, count: unpaired.count - 1 } };
}
