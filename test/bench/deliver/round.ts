/** For figures that people read. */
export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
