import { maskTinIn } from "./providers/mask.ts";
import type { Answer } from "./providers/provider.ts";

/** The TIN of one check. */
export interface AskedTin {
  /** Reveals it to a provider. */
  readonly tin: () => Promise<string>;
  /** An answer in which nothing that was revealed is left, whatever its adapter forgot. */
  readonly mask: (answer: Answer) => Answer;
}

/** Stands between the TIN and what becomes evidence: an answer passes `mask` before anything is made of it. */
export function createAskedTin(reveal: () => Promise<string>): AskedTin {
  const revealed = new Set<string>();
  const masked = (text: string) => [...revealed].reduce((left, tin) => maskTinIn(left, tin), text);
  return {
    async tin() {
      const tin = await reveal();
      revealed.add(tin);
      return tin;
    },
    mask: (answer) => ({
      ...answer,
      reason: masked(answer.reason),
      facts: Object.fromEntries(Object.entries(answer.facts).map(([name, fact]) => [name, fact && masked(fact)])),
      content: masked(answer.content),
    }),
  };
}
