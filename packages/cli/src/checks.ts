import { type Option, oneOf } from "./command.ts";

const names = ["sam_registration", "tin_match"] as const;
export type Check = (typeof names)[number];

const modes = ["realtime", "cached"] as const;
export type Mode = (typeof modes)[number];

const DEFAULT_CHECKS = "sam_registration";

/** Option that selects checks. */
export const checksOption: Option = {
  value: "CHECKS",
  does: `Checks, separated by commas: ${names.join(", ")}. Default: ${DEFAULT_CHECKS}.`,
};

/** Option that selects fresh or stored answers. */
export const modeOption: Option = {
  value: "MODE",
  does: "realtime asks the providers, cached takes the newest stored answer. Default: realtime.",
};

/** Reads --checks. Errors: UsageError. */
export function readChecks(text: string = DEFAULT_CHECKS): Check[] {
  return text.split(",").map((name) => oneOf(name.trim(), "checks", names));
}

/** Reads --mode. Errors: UsageError. */
export function readMode(text: string = "realtime"): Mode {
  return oneOf(text, "mode", modes);
}
