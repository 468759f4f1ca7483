import { containsTin } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import type { CheckType } from "@vvs/proto/common/v1/common";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { checkNames, checkTypes } from "./checks.ts";

/** How often a monitor may run, by the public names. */
export const frequencies = {
  hourly: Frequency.HOURLY,
  daily: Frequency.DAILY,
  weekly: Frequency.WEEKLY,
  monthly: Frequency.MONTHLY,
} as const;

export type FrequencyName = keyof typeof frequencies;

export const frequencyNames = Object.keys(frequencies) as FrequencyName[];

/** What a user typed into the form that creates a monitor. */
export interface TypedMonitor {
  readonly entity_id: string;
  readonly checks: readonly string[];
  readonly frequency: string;
  readonly webhook_url: string;
}

export type MonitorProblems = { readonly [F in keyof TypedMonitor]?: string };

/** What the monitor service is asked for. */
export interface WantedMonitor {
  readonly entityId: string;
  readonly checks: readonly CheckType[];
  readonly frequency: Frequency;
  readonly webhookUrl: string;
}

export const emptyMonitor: TypedMonitor = {
  entity_id: "",
  checks: ["sam_registration"],
  frequency: "daily",
  webhook_url: "",
};

/** The public name of a frequency; one that this version does not know yet by its number. */
export function frequencyName(frequency: Frequency): string {
  return frequencyNames.find((name) => frequencies[name] === frequency) ?? `frequency ${frequency}`;
}

/** What a form asks for, or every problem at once. Whether the URL may be used is the monitor service's to say. */
export function readMonitor(
  typed: TypedMonitor,
): { readonly wanted: WantedMonitor } | { readonly problems: MonitorProblems } {
  const problems: { -readonly [F in keyof MonitorProblems]: string } = {};
  const entityId = typed.entity_id.trim();
  if (!isId("ent", entityId)) problems.entity_id = "The id of an entity is ent_ and 26 letters and digits.";
  const checks = checkNames.filter((name) => typed.checks.includes(name)).map((name) => checkTypes[name]);
  if (checks.length === 0) problems.checks = "Pick at least one check.";
  const frequency = frequencyNames.find((name) => name === typed.frequency);
  if (!frequency) problems.frequency = "Pick how often it runs.";
  const webhookUrl = typed.webhook_url.trim();
  if (webhookUrl === "") problems.webhook_url = "Give the URL that changes are sent to.";
  if (Object.keys(problems).length > 0 || !frequency) return { problems };
  return { wanted: { entityId, checks, frequency: frequencies[frequency], webhookUrl } };
}

/**
 * What may be shown again of a form that was refused: of an id or a URL that is none not a word, for it may be anything
 * that was pasted by mistake.
 */
export function echoOfMonitor(typed: TypedMonitor): TypedMonitor {
  const [entityId, url] = [typed.entity_id.trim(), typed.webhook_url.trim()];
  return {
    ...typed,
    entity_id: isId("ent", entityId) ? entityId : "",
    webhook_url: isPlainUrl(url) && !containsTin(url) ? url : "",
  };
}

const isPlainUrl = (text: string) => /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text) && URL.canParse(text);
