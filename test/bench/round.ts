/** Rounds a figure for display. */
export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
