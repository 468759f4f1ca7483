import { type Html, html } from "../http/html.ts";

/** In the place of deliveries, while the service that has them is away. */
export const deliveriesAway: Html = html`<p class="notice problem" role="alert">Deliveries can’t be shown at the moment. They go on being made; try again in a moment.</p>`;

/** In the place of a page about deliveries. */
export function deliveriesAwayPage(title: string): Html {
  return html`<h1>${title}</h1>
${deliveriesAway}`;
}
