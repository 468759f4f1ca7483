import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { EnvironmentView } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { keyHint } from "../page/panels.ts";
import { choiceGroup, option, selectField } from "../ui/fields.ts";
import { card, copyable, formTokenField, time } from "../ui/parts.ts";

export function apiKeyCreatedPage(options: {
  view: EnvironmentView;
  key: ApiKey;
  value: string;
  firstCall: string;
  /** Address of the API reference. */
  reference: URL;
  /** The key that it replaces, if any. */
  rolled?: ApiKey;
}): Html {
  const { key, rolled } = options;
  return html`${card("value", key.name)`
<p class="notice warning"><strong>Copy the key now. It is shown only once.</strong> If you lose it, revoke it and create a new one.</p>
${copyable("key-value", "The new API key", options.value)}
${key.expiresAt && html`<p>It expires on ${time(key.expiresAt)}.</p>`}
${rolled && html`<p>The previous key <code>${keyHint(rolled)}</code> ${rolled.revokedAt ? "has ended. It stops working everywhere within 5 seconds." : html`works until ${time(rolled.expiresAt)}.`}</p>`}
<p><a class="button" href="${options.view.path}/api-keys">I have saved the key</a></p>`}
${card("first-call", "Try it")`<p>To make a first call with this key, paste this command into a terminal:</p>
${copyable("first-call-command", "A first call with curl", options.firstCall)}
<p>The <a href="${options.reference.href}">API reference</a> has all other calls, and leads to a first webhook on your machine. The <a href="${options.view.path}/overview">overview</a> shows your next step.</p>`}`;
}

/** The input of the form that rolls a key. */
export interface RollInput {
  readonly overlap: string;
  readonly lifetime: string;
}

/** Returns the initial input of the form: the new key lives as long as the current one. */
export function initialRollInput(key: ApiKey): RollInput {
  return { overlap: DEFAULT_OVERLAP, lifetime: lifetimeOf(key) };
}

export function rollApiKeyPage(options: { visit: Visit; key: ApiKey; input: RollInput }): Html {
  const { key, input } = options;
  const { view, now } = options.visit;
  const keys = `${view.path}/api-keys`;
  if (apiKeyState(key, now) !== "active") {
    return html`<p>This API key has ended or was already rolled, so it can’t be rolled again.</p>
<p><a class="button" href="${keys}">Go back to API keys</a></p>`;
  }
  return html`<p>A new ${view.name.toLowerCase()} API key with the same name and scopes replaces <code>${keyHint(key)}</code>. Its value is shown only once. Give it to the systems that use the current key while both keys work.</p>
<form method="post" action="${keys}/${key.id}/roll">
  ${formTokenField(options.visit)}
  ${choiceGroup({ type: "radio", name: "overlap", legend: "The current key", choices: overlaps, picked: [input.overlap] })}
  ${lifetimeField(input.lifetime)}
  <p class="choices"><button>Roll key</button>
  <a class="button quiet" href="${keys}">Cancel</a></p>
</form>`;
}

export function revokeApiKeyPage({ view, key }: { view: EnvironmentView; key: ApiKey }): Html {
  const keys = `${view.path}/api-keys`;
  if (key.revokedAt) {
    return html`<p>This API key was revoked on ${time(key.revokedAt)}.</p>
<p><a class="button" href="${keys}">Go back to API keys</a></p>`;
  }
  return html`<p>The ${view.name.toLowerCase()} API key <code>${keyHint(key)}</code> will stop working everywhere within 5 seconds. Systems that use it can’t call the API anymore. You can’t undo this.</p>
<form method="post" action="${keys}/${key.id}/revoke" class="choices">
  <button class="danger">Revoke key</button>
  <a class="button quiet" href="${keys}">Keep key</a>
</form>`;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The lifetimes to choose from for a new key. */
const lifetimes = [
  { id: "never", name: "Never", days: undefined },
  { id: "7", name: "In 7 days", days: 7 },
  { id: "30", name: "In 30 days", days: 30 },
  { id: "90", name: "In 90 days", days: 90 },
  { id: "365", name: "In a year", days: 365 },
] as const;

type LifetimeId = (typeof lifetimes)[number]["id"];

/** Returns when a key of the chosen lifetime expires: undefined for never, "unknown" for an invalid choice. */
export function endOf(lifetime: string, now: Date): Timestamp | undefined | "unknown" {
  const chosen = lifetimes.find(({ id }) => id === lifetime);
  if (!chosen) return "unknown";
  return chosen.days && timestampFromDate(new Date(now.getTime() + chosen.days * DAY_MS));
}

/** Returns the choice closest to the lifetime of a key, to preselect for the key that replaces it. */
function lifetimeOf({ createdAt, expiresAt }: Pick<ApiKey, "createdAt" | "expiresAt">): LifetimeId {
  if (!createdAt || !expiresAt) return "never";
  const days = (timestampDate(expiresAt).getTime() - timestampDate(createdAt).getTime()) / DAY_MS;
  const distance = (choice: { days: number | undefined }) => Math.abs((choice.days ?? Number.POSITIVE_INFINITY) - days);
  return lifetimes.reduce((best, choice) => (distance(choice) < distance(best) ? choice : best)).id;
}

/** How long a rolled key keeps working, in seconds. */
const overlaps = [
  { value: "0", label: "Ends immediately", meaning: "if someone else may know it" },
  { value: "3600", label: "Works for 1 more hour", meaning: "if you replace it in your system now" },
  { value: "86400", label: "Works for 24 more hours", meaning: "enough in most cases" },
  { value: "604800", label: "Works for 7 more days", meaning: "if several systems use it" },
] as const;

const DEFAULT_OVERLAP = "86400";

/** Returns the overlap in seconds; undefined for an invalid choice. */
export function overlapSeconds(overlap: string): number | undefined {
  const chosen = overlaps.find(({ value }) => value === overlap);
  return chosen && Number(chosen.value);
}

export type ApiKeyState = "active" | "rolled" | "expired" | "revoked";

/** Returns the state of a key. It works while active or rolled; a rolled key has an end. A key that is revoked and expired counts as revoked. */
export function apiKeyState(key: Pick<ApiKey, "revokedAt" | "expiresAt" | "rolledAt">, now: Date): ApiKeyState {
  if (key.revokedAt) return "revoked";
  if (key.expiresAt && timestampDate(key.expiresAt) <= now) return "expired";
  return key.rolledAt ? "rolled" : "active";
}

/** Renders the choice of when a new key expires. */
export function lifetimeField(picked: string, problem?: string): Html {
  const options = lifetimes.map(({ id, name }) => option(id, picked, name));
  const hint = "A key that expires can’t be misused if it is forgotten.";
  return selectField({ name: "expires", label: "The new key expires", options, hint, problem });
}
