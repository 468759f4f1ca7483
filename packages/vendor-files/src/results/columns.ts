/** Columns that results add to those of the list, in this order. A list that has them is read without them. */
export const resultColumns = [
  "outcome",
  "decision",
  "registry_name",
  "asked_tin",
  "asked_name",
  "expires_on",
  "reasons",
  "evidence",
] as const;
