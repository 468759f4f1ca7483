/** A growing list of whole numbers below 2^32, four bytes each, outside the garbage collector's reach. */
export interface Column {
  readonly length: number;
  push(value: number): void;
  /** What it holds, in no more memory than that takes. The column must not be used afterwards. */
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

/** Texts one after the other in one buffer. */
export interface TextColumn {
  readonly length: number;
  push(text: string): void;
  take(): Texts;
}

export interface Texts {
  at(index: number): string;
}

export function createTextColumn(): TextColumn {
  const starts = createColumn();
  let bytes = Buffer.alloc(1_024);
  let used = 0;
  return {
    get length() {
      return starts.length;
    },
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
