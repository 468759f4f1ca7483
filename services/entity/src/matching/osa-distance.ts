/** Rows of the table, reused: one look-up compares thousands of words. */
let beforeLast: number[] = [];
let last: number[] = [];
let current: number[] = [];

/** Optimal string alignment distance: insertions, deletions, substitutions, swaps; a greater number above `max`. */
export function osaDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let start = 0;
  let [aEnd, bEnd] = [a.length, b.length];
  while (aEnd > 0 && bEnd > 0 && a.charCodeAt(aEnd - 1) === b.charCodeAt(bEnd - 1)) {
    aEnd--;
    bEnd--;
  }
  while (start < aEnd && start < bEnd && a.charCodeAt(start) === b.charCodeAt(start)) start++;
  const [rows, columns] = [aEnd - start, bEnd - start];
  if (rows === 0 || columns === 0) return rows + columns;
  for (let j = 0; j <= columns; j++) last[j] = j;
  for (let i = 1; i <= rows; i++) {
    const letter = a.charCodeAt(start + i - 1);
    current[0] = i;
    let best = i;
    for (let j = 1; j <= columns; j++) {
      const other = b.charCodeAt(start + j - 1);
      let distance = last[j - 1]! + (letter === other ? 0 : 1);
      if (last[j]! + 1 < distance) distance = last[j]! + 1;
      if (current[j - 1]! + 1 < distance) distance = current[j - 1]! + 1;
      if (i > 1 && j > 1 && letter === b.charCodeAt(start + j - 2) && a.charCodeAt(start + i - 2) === other) {
        if (beforeLast[j - 2]! + 1 < distance) distance = beforeLast[j - 2]! + 1;
      }
      current[j] = distance;
      if (distance < best) best = distance;
    }
    if (best > max) return max + 1;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[columns]!;
}
