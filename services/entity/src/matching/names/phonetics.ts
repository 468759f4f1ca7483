/**
 * Spells a lower-case ASCII word by its sound, roughly, so that spellings in several languages become equal ("Philips",
 * "Filips"; "technology", "teknolodzhi").
 */
export function soundOf(word: string): string {
  const known = sounds.get(word);
  if (known !== undefined) return known;
  if (sounds.size >= MOST_KEPT) sounds.clear();
  const sound = spelledBySound(word);
  sounds.set(word, sound);
  return sound;
}

/** Results for recent words: those of one look-up's candidates are compared repeatedly. */
const sounds = new Map<string, string>();
const MOST_KEPT = 2_000;

function spelledBySound(word: string): string {
  return word
    .replace(/sch|shch|tsch/g, "sh")
    .replace(/dzh|dj|dg(?=[eiy])/g, "j")
    .replace(/g(?=[eiy])/g, "j")
    .replace(/ph/g, "f")
    .replace(/ck|kh|qu?|ch(?=[lnrst])|x/g, (found) => (found === "x" ? "ks" : "k"))
    .replace(/c(?=[eiy])/g, "s")
    .replace(/ch/g, "k")
    .replace(/c/g, "k")
    .replace(/lj/g, "l")
    .replace(/w/g, "v")
    .replace(/th/g, "t")
    .replace(/z/g, "s")
    .replace(/ij|ie|ey|ee|y/g, "i")
    .replace(/([aeiou])h/g, "$1")
    .replace(/oo|ou/g, "u")
    .replace(/(.)\1+/g, "$1");
}
