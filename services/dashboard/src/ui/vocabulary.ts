/** Display texts for the codes of providers. */

const providerNames: Readonly<Record<string, string>> = {
  sam_gov_api: "SAM.gov API",
  sam_gov_extract: "SAM.gov extract files",
  sam_gov_exclusions: "SAM.gov exclusions file",
  taxbandits: "TaxBandits",
  compliancely: "Compliancely",
  sandbox_registry: "Sandbox registry",
  sandbox_primary: "First sandbox provider",
  sandbox_secondary: "Second sandbox provider",
};

/** Returns the display name of a provider, or its code if this version does not know it. */
export function providerName(code: string): string {
  return providerNames[code] ?? code;
}

export const numberText = (number: number): string => number.toLocaleString("en-US");

/** Returns a number of things, such as 1 vendor or 1,204 vendors. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : many}`;

/** Returns a duration, such as 4.2 ms, 41 ms or 15.0 s. */
export function durationText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** Returns the host of a webhook URL. */
export function hostOf(webhookUrl: string): string {
  return URL.canParse(webhookUrl) ? new URL(webhookUrl).host : webhookUrl;
}

const planNames: Readonly<Record<string, string>> = {
  starter: "Starter",
  growth: "Growth",
  enterprise: "Enterprise",
};

/** Returns the name of a plan for people. */
export const planName = (plan: string): string => planNames[plan] ?? plan;
