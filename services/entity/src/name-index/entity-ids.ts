import { createColumn, createTextColumn, type Texts } from "./column.ts";
import { powerOfTwo } from "./grouped.ts";
import { hashOn, hashStart, spread } from "./hash.ts";

/** The ids of entities by their rows, and the rows by ids. */
export interface EntityIds extends Texts {
  /** The row of an id; undefined for an unknown id. */
  rowOf(id: string): number | undefined;
}

/** Collects the ids of rows 0, 1, 2 …; `finish` ends the collection. */
export function createEntityIdCollector(): { readonly count: number; push(id: string): void; finish(): EntityIds } {
  const texts = createTextColumn();
  const hashes = createColumn();
  return {
    get count() {
      return hashes.length;
    },
    push(id) {
      texts.push(id);
      hashes.push(hashOf(id));
    },
    finish: () => withRows(texts.take(), hashes.take()),
  };
}

function withRows({ at }: Texts, hashes: Uint32Array): EntityIds {
  const size = powerOfTwo(hashes.length * 1.5 + 1);
  // Row + 1; 0 is free.
  const slots = new Uint32Array(size);
  for (let row = 0; row < hashes.length; row++) {
    let slot = hashes[row]! & (size - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (size - 1);
    slots[slot] = row + 1;
  }
  return {
    at,
    rowOf(id) {
      for (let slot = hashOf(id) & (size - 1); slots[slot] !== 0; slot = (slot + 1) & (size - 1)) {
        if (at(slots[slot]! - 1) === id) return slots[slot]! - 1;
      }
      return undefined;
    },
  };
}

function hashOf(id: string): number {
  let hash = hashStart;
  for (let at = 0; at < id.length; at++) hash = hashOn(hash, id.charCodeAt(at));
  return spread(hash);
}
