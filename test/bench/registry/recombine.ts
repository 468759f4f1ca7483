import type { MadeName } from "./names.ts";
import { legalForm, surname } from "./names.ts";
import type { Random } from "./random.ts";

/** Share of names that are kept as they were read. */
const KEPT_SHARE = 0.04;
const SURNAME_SHARE = 0.3;

const formAtEnd =
  /^(.*?)(,? (?:INC|INCORPORATED|LLC|L\.L\.C|CORP|CORPORATION|CO|COMPANY|LTD|LIMITED|LP|LLP|PC|P\.C|PLLC)\.?)?$/i;

/**
 * Returns a function that makes new names from given ones. One of them is the pattern, and each of its words can be
 * replaced by a word from the same place in another name, or by a surname. So words keep their frequencies, and names
 * their lengths.
 */
export function recombinationOf(names: readonly string[]): (random: Random) => MadeName {
  const read = names.map((name) => {
    const [, core = name, form = ""] = formAtEnd.exec(name.trim()) ?? [];
    return { words: core.split(/\s+/).filter(Boolean), form };
  });
  const at = (place: "first" | "middle" | "last") =>
    read.flatMap(({ words }) => {
      if (place === "first") return words.slice(0, 1);
      return place === "middle" ? words.slice(1, -1) : words.slice(1).slice(-1);
    });
  const pools = { first: at("first"), middle: at("middle"), last: at("last") };
  return (random) => {
    const pattern = random.pick(read);
    if (random.chance(KEPT_SHARE)) return { core: pattern.words.join(" "), form: pattern.form };
    const { length } = pattern.words;
    const words = pattern.words.map((word, index) => {
      const place = index === 0 ? "first" : index === length - 1 ? "last" : "middle";
      if (index > 0 && random.chance(0.25)) return word;
      if (place === "first" && random.chance(SURNAME_SHARE)) return surname(random);
      return random.pick(pools[place].length > 0 ? pools[place] : pools.first);
    });
    return { core: words.join(" "), form: random.chance(0.5) ? pattern.form : legalForm(random) };
  };
}
