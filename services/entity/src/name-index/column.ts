/** A growing list of integers from 0 to 2^32 - 1, four bytes each, outside the heap of the garbage collector. */
export interface Column {
  readonly length: number;
  push(value: number): void;
  /** Returns the values in an array of exactly their size. The column must not be used afterwards. */
  take(): Uint32Array<ArrayBuffer>;
}

const FIRST_CAPACITY = 64;
const GROWTH = 1.5;

export function createColumn(): Column {
  let values = new Uint32Array(FIRST_CAPACITY);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === values.length) {
        const larger = new Uint32Array(Math.ceil(length * GROWTH));
        larger.set(values);
        values = larger;
      }
      values[length++] = value;
    },
    take() {
      const taken = values.slice(0, length);
      values = new Uint32Array(0);
      return taken;
    },
  };
}

/** Texts in one buffer, by their numbers. */
export interface Texts {
  at(index: number): string;
}

/** Collects texts; `take` ends the collection. */
export function createTextColumn(): { push(text: string): void; take(): Texts } {
  const starts = createColumn();
  let bytes = Buffer.alloc(1_024);
  let used = 0;
  return {
    push(text) {
      const size = Buffer.byteLength(text);
      if (used + size > bytes.length) {
        const larger = Buffer.alloc(Math.ceil((used + size) * GROWTH));
        bytes.copy(larger, 0, 0, used);
        bytes = larger;
      }
      starts.push(used);
      used += bytes.write(text, used);
    },
    take() {
      starts.push(used);
      const from = starts.take();
      const all = Buffer.from(bytes.subarray(0, used));
      bytes = Buffer.alloc(0);
      return { at: (index) => all.toString("utf8", from[index], from[index + 1]) };
    },
  };
}
