import type { Arguments, Option } from "./command.ts";

const types = ["uei", "tin", "duns", "cage"] as const;

/** Identifiers of a vendor, by type. */
export type Identifiers = Partial<Record<(typeof types)[number], string>>;

/** Options that name a vendor. */
export const identifierOptions: Readonly<Record<keyof Identifiers, Option>> = {
  uei: { value: "UEI", does: "Unique Entity ID, 12 characters." },
  tin: { value: "TIN", does: "Taxpayer Identification Number, 9 digits." },
  duns: { value: "DUNS", does: "D-U-N-S number, 9 digits." },
  cage: { value: "CAGE", does: "CAGE code, 5 characters." },
};

/** Returns the identifiers that options give; undefined if there are none. */
export function readIdentifiers(args: Arguments): Identifiers | undefined {
  const given = types.flatMap((type) => {
    const value = args.text(type);
    return value === undefined ? [] : [[type, value]];
  });
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}
