/** The page after a sign-in if no other was requested. It leads to the overview of the environment that is in use. */
export const HOME = "/";

const OWN_PAGE = /^\/(live|test)\/[a-z]+(-[a-z]+)*(\/[\w-]+)*$/;

/** Returns the page in a `next` parameter, or HOME. Only the dashboard's own pages are accepted, so that no link redirects to another site. */
export function nextPath(text: string | undefined): string {
  return text !== undefined && text.length <= 200 && OWN_PAGE.test(text) ? text : HOME;
}

/** Returns the path of the sign-in page that leads back to the requested page, or to the page with the form if a form was sent. */
export function signInPath(method: string, path: string): string {
  const page = pageOf(method, path);
  return OWN_PAGE.test(page) ? `/sign-in?next=${encodeURIComponent(page)}` : "/sign-in";
}

/** Returns the path of the page that asks for the password again, and leads back as the sign-in page does. */
export function confirmPath(view: { path: string }, method: string, path: string): string {
  return `${view.path}/security/confirm?next=${encodeURIComponent(pageOf(method, path))}`;
}

function pageOf(method: string, path: string): string {
  return method === "GET" ? path : path.split("/").slice(0, 3).join("/");
}
