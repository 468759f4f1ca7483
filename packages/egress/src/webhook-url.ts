import { isIP } from "node:net";
import { addressRule, isPublicAddress, withoutBrackets } from "./address.ts";

const MAX_LENGTH = 2_048;
/** Maximum length of a host name in DNS, in characters; in ASCII, without a dot at its end. */
const MAX_HOST_LENGTH = 253;

export interface WebhookUrlRule {
  /** Live events are sent only over https; the sandbox also allows http. */
  readonly environment: "live" | "sandbox";
  /** The operator allows private addresses. Live events may then also use http, but only to those addresses. */
  readonly allowPrivateTargets: boolean;
}

/**
 * Returns the problem of a webhook endpoint's URL, in words for its author, or undefined if there is none. Checks only
 * the text: a name that resolves to a private address is refused when an event is delivered.
 */
export function webhookUrlProblem(text: string, rule: WebhookUrlRule): string | undefined {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  // URL would silently repair these, and another parser might read them as another host.
  if (/[\s\\\p{Cc}]/u.test(text)) return "must not contain spaces, backslashes or control characters";
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    return "must be an absolute URL, such as https://example.com/webhooks";
  }
  if (text.includes("#")) return "must not contain a fragment (#…)";
  if (/^[a-z]+:\/\/[^/?]*@/i.test(text)) return "must not contain a user name or password";
  const url = new URL(text);
  if (url.hostname.replace(/\.$/, "").length > MAX_HOST_LENGTH)
    return `must have a host of at most ${MAX_HOST_LENGTH} characters`;
  const isPrivate = isPrivateHost(url.hostname);
  if (isPrivate && (!rule.allowPrivateTargets || isHostInternal(url.hostname))) return "must lead to a public host";
  if (url.protocol === "http:" && rule.environment === "live" && !isPrivate) return "must begin with https://";
  return undefined;
}

/** Names that never belong to a public host; only a local resolver knows names without a dot. */
const PRIVATE_NAME = /^[^.]*$|\.(?:localhost|local|internal)$/;

const isReachableLocally = addressRule({ allowPrivateTargets: true });

/** Returns whether a host is an address of the machine's host or cloud. Takes `hostname` from URL. */
function isHostInternal(hostname: string): boolean {
  const host = withoutBrackets(hostname).replace(/\.$/, "");
  return isIP(host) !== 0 && !isReachableLocally(host);
}

/** Returns whether a host is not a public one, by its text. Takes `hostname` from URL, which converts any notation of IPv4 (0x7f.1, 2130706433), and puts IPv6 in brackets. */
export function isPrivateHost(hostname: string): boolean {
  const host = withoutBrackets(hostname).replace(/\.$/, "");
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return PRIVATE_NAME.test(host);
}
