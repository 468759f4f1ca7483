const MAX_LENGTH = 40;

/**
 * Counts typing errors between words: letters left out, too many, wrong, or two neighbours swapped (optimal string
 * alignment). Works in buffers of its own, as it is asked hundreds of times for one look-up.
 */
export function createTypingDistance(): (a: string, b: string, max: number) => number {
  let beforeLast = new Uint8Array(MAX_LENGTH + 1);
  let last = new Uint8Array(MAX_LENGTH + 1);
  let current = new Uint8Array(MAX_LENGTH + 1);
  return (a, b, max) => {
    if (Math.abs(a.length - b.length) > max || a.length > MAX_LENGTH || b.length > MAX_LENGTH) return max + 1;
    for (let j = 0; j <= b.length; j++) last[j] = j;
    for (let i = 1; i <= a.length; i++) {
      current[0] = i;
      let best = i;
      const letter = a.charCodeAt(i - 1);
      for (let j = 1; j <= b.length; j++) {
        const other = b.charCodeAt(j - 1);
        let distance = last[j - 1]! + (letter === other ? 0 : 1);
        if (last[j]! + 1 < distance) distance = last[j]! + 1;
        if (current[j - 1]! + 1 < distance) distance = current[j - 1]! + 1;
        if (i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other) {
          if (beforeLast[j - 2]! + 1 < distance) distance = beforeLast[j - 2]! + 1;
        }
        current[j] = distance;
        if (distance < best) best = distance;
      }
      if (best > max) return max + 1;
      [beforeLast, last, current] = [last, current, beforeLast];
    }
    return last[b.length]!;
  };
}
