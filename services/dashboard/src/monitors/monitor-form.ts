import { checkNames, toCheckType } from "@vvs/checks";
import { containsTin } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { ENTITY_ID_PROBLEM } from "../http/filter.ts";
import { echoOfVendorNumber, readVendorNumber } from "../ui/vendor-number.ts";

/** The frequencies of monitors, by their public names. */
const frequencies = {
  hourly: Frequency.HOURLY,
  daily: Frequency.DAILY,
  weekly: Frequency.WEEKLY,
  monthly: Frequency.MONTHLY,
} as const;

export type FrequencyName = keyof typeof frequencies;

const frequencyNames = Object.keys(frequencies) as FrequencyName[];

/** The input of the form that creates a monitor. */
export interface MonitorInput {
  readonly entity_id: string;
  readonly checks: readonly string[];
  readonly frequency: string;
  readonly webhook_url: string;
  readonly external_id: string;
}

export const emptyMonitor: MonitorInput = {
  entity_id: "",
  checks: ["sam_registration"],
  frequency: "daily",
  webhook_url: "",
  external_id: "",
};

/** Returns the public name of a frequency, or its number if this version does not know it yet. */
export function frequencyName(frequency: Frequency): string {
  return frequencyNames.find((name) => frequencies[name] === frequency) ?? `frequency ${frequency}`;
}

/** Checks the input. Returns the request for the monitor service, or all problems. That service checks whether the URL may be used. */
export function readMonitor(typed: MonitorInput) {
  const problems: { -readonly [F in keyof MonitorInput]?: string } = {};
  const entityId = typed.entity_id.trim();
  if (!isId("ent", entityId)) problems.entity_id = ENTITY_ID_PROBLEM;
  const checks = checkNames.filter((name) => typed.checks.includes(name)).map(toCheckType);
  if (checks.length === 0) problems.checks = "Choose at least one check.";
  const frequency = frequencyNames.find((name) => name === typed.frequency);
  if (!frequency) problems.frequency = "Choose how often the monitor runs.";
  const webhookUrl = typed.webhook_url.trim();
  const number = readVendorNumber(typed.external_id);
  if (number.problem) problems.external_id = number.problem;
  if (Object.keys(problems).length > 0 || !frequency) return { problems };
  return {
    request: { entityId, checks, frequency: frequencies[frequency], webhookUrl, externalId: number.externalId },
  };
}

/**
 * Returns the part of a refused form that may be shown again: not an invalid id or URL, which may be a secret pasted by
 * mistake, and no TIN.
 */
export function echoOfMonitor(typed: MonitorInput): MonitorInput {
  const [entityId, url] = [typed.entity_id.trim(), typed.webhook_url.trim()];
  return {
    ...typed,
    entity_id: isId("ent", entityId) ? entityId : "",
    webhook_url: isPlainUrl(url) && !containsTin(url) ? url : "",
    external_id: echoOfVendorNumber(typed.external_id),
  };
}

const isPlainUrl = (text: string) => /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text) && URL.canParse(text);
