import { type Column, createColumn } from "./column.ts";
import { powerOfTwo } from "./grouped.ts";
import { hashOn, hashStart, spread } from "./hash.ts";

const PREFIX = "ent_";
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH = 26;
const PER_WORD = 6;
/** 26 characters of five bits in words of 30 bits. */
const WORDS = Math.ceil(LENGTH / PER_WORD);

const digitOf = new Uint8Array(128);
for (const [value, letter] of [...ALPHABET].entries()) digitOf[letter.charCodeAt(0)] = value;

/** The ids of entities, 20 bytes each, found by their row and the other way round. */
export interface EntityIds {
  readonly count: number;
  at(row: number): string;
  /** The row of an id; undefined for an id that is not there. */
  rowOf(id: string): number | undefined;
}

export interface EntityIdCollector {
  readonly count: number;
  push(id: string): void;
  finish(): EntityIds;
}

export function createEntityIdCollector(): EntityIdCollector {
  const packed: Column = createColumn();
  const words = new Uint32Array(WORDS);
  let count = 0;
  return {
    get count() {
      return count;
    },
    push(id) {
      pack(id, words);
      for (const word of words) packed.push(word);
      count++;
    },
    finish: () => tableOf(packed.take(), count),
  };
}

function tableOf(packed: Uint32Array, count: number): EntityIds {
  const size = powerOfTwo(count * 1.5 + 1);
  // Row + 1; 0 is free.
  const slots = new Uint32Array(size);
  const words = new Uint32Array(WORDS);
  const isAt = (row: number) => words.every((word, index) => packed[row * WORDS + index] === word);
  const slotOf = () => spread(words.reduce(hashOn, hashStart)) & (size - 1);
  for (let row = 0; row < count; row++) {
    words.set(packed.subarray(row * WORDS, (row + 1) * WORDS));
    let slot = slotOf();
    while (slots[slot] !== 0) slot = (slot + 1) & (size - 1);
    slots[slot] = row + 1;
  }
  return {
    count,
    at: (row) => unpack(packed, row * WORDS),
    rowOf(id) {
      pack(id, words);
      for (let slot = slotOf(); slots[slot] !== 0; slot = (slot + 1) & (size - 1)) {
        if (isAt(slots[slot]! - 1)) return slots[slot]! - 1;
      }
      return undefined;
    },
  };
}

function pack(id: string, into: Uint32Array): void {
  into.fill(0);
  for (let at = 0; at < LENGTH; at++) {
    const word = Math.floor(at / PER_WORD);
    into[word] = into[word]! * 32 + digitOf[id.charCodeAt(PREFIX.length + at) & 127]!;
  }
}

function unpack(packed: Uint32Array, start: number): string {
  let text = PREFIX;
  for (let at = 0; at < LENGTH; at++) {
    const word = Math.floor(at / PER_WORD);
    const behind = Math.min(PER_WORD, LENGTH - word * PER_WORD) - 1 - (at % PER_WORD);
    text += ALPHABET[(packed[start + word]! >>> (5 * behind)) & 31];
  }
  return text;
}
