import { isIP } from "node:net";
import { isPublicAddress } from "./address.ts";

const MAX_LENGTH = 2_048;

export interface WebhookUrlRule {
  /** Live events leave over https alone; the sandbox takes http too. */
  readonly environment: "live" | "sandbox";
  /** The operator lets events go to private addresses: then live takes http as well, towards those alone. */
  readonly allowPrivateTargets: boolean;
}

/**
 * What is wrong with the URL of a subscriber, in words for its author, or undefined where nothing is. Looks at the text
 * alone: a name that resolves to a private address is found only when an event is delivered.
 */
export function webhookUrlProblem(text: string, rule: WebhookUrlRule): string | undefined {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  // URL would quietly repair these, and another parser might read them as another host.
  if (/[\s\\]/.test(text) || hasControlCharacter(text))
    return "must not contain spaces, backslashes or control characters";
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    return "must be an absolute URL, such as https://example.com/webhooks";
  }
  if (text.includes("#")) return "must not contain a fragment (#…)";
  if (/^[a-z]+:\/\/[^/?]*@/i.test(text)) return "must not contain a user name or password";
  const url = new URL(text);
  const isPrivate = isPrivateHost(url.hostname);
  if (isPrivate && !rule.allowPrivateTargets) return "must lead to a public host";
  if (url.protocol === "http:" && rule.environment === "live" && !isPrivate) return "must begin with https://";
  return undefined;
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}

/** Names that never lead to a public host; a name without a dot is only known to a local resolver. */
const PRIVATE_NAME = /^[^.]*$|\.(?:localhost|local|internal)$/;

/** `hostname` as URL gives it: numbers in any spelling (0x7f.1, 2130706433) are dotted by then, IPv6 is in brackets. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return PRIVATE_NAME.test(host);
}
