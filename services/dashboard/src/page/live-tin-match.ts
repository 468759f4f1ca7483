import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "./page-context.ts";

/**
 * Returns the hint of forms with checks where live tin_match is not enabled for the organization; undefined where it is, in
 * the sandbox, and while account is unavailable.
 */
export async function liveTinMatchHint(
  { organization, readPanel }: Pick<PageContext, "organization" | "readPanel">,
  visit: Visit,
): Promise<Html | undefined> {
  if (visit.view.environment !== "live") return undefined;
  const read = await readPanel(visit, "plan", (call) => organization.getOrganization({ caller: visit.caller }, call));
  if (read?.liveTinMatch !== false) return undefined;
  return html`<p class="hint"><code>tin_match</code> is not enabled for your organization in the live environment: it would end in <code>error</code>. To have it enabled, contact the operator of this service.</p>`;
}
