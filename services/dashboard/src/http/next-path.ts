/** The page after a sign-in if no other was requested. It leads to the overview of the environment that is in use. */
export const HOME = "/";

/** A query as our own links and forms write it. */
const OWN_PAGE = /^\/(live|test)\/[a-z]+(-[a-z]+)*(\/[\w-]+)*(\?[\w%&=+.*~-]*)?$/;
/** Maximum length of a page's path and query, in characters. */
const MAX_LENGTH = 500;

const isOwnPage = (text: string) => text.length <= MAX_LENGTH && OWN_PAGE.test(text);

/** Returns the page in a `next` parameter, or HOME. Only the dashboard's own pages are accepted, so that no link redirects to another site. */
export function nextPath(text: string | undefined): string {
  return text !== undefined && isOwnPage(text) ? text : HOME;
}

/**
 * Returns the path of the sign-in page that leads back to the requested page, with its query unless that is not one of ours, or
 * to the page with the form if a form was sent.
 */
export function signInPath(method: string, url: string): string {
  const page = pageOf(method, url);
  return isOwnPage(page) ? `/sign-in?next=${encodeURIComponent(page)}` : "/sign-in";
}

/** Returns the path of the page that asks for the password again, and leads back as the sign-in page does. */
export function confirmPath(view: { path: string }, method: string, url: string): string {
  return `${view.path}/security/confirm?next=${encodeURIComponent(pageOf(method, url))}`;
}

/** Returns the page that was asked for, which says that the password was confirmed. */
export function confirmedPath(page: string): string {
  const [path, query] = page.split("?");
  const parameters = new URLSearchParams(query);
  parameters.set("done", "confirmed");
  return `${path}?${parameters}`;
}

function pageOf(method: string, url: string): string {
  const path = url.split("?")[0]!;
  if (method === "GET") return isOwnPage(url) ? url : path;
  return path.split("/").slice(0, 3).join("/");
}
