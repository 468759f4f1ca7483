/** Where a sign-in leads when nothing else was asked for: to the sandbox, where nothing can go wrong. */
export const HOME = "/test/overview";

const OWN_PAGE = /^\/(live|test)\/[a-z]+(-[a-z]+)*(\/[\w-]+)*$/;

/** The page that a `next` parameter names: the dashboard's own ones alone, so that no link leads from here to elsewhere. */
export function nextPath(text: string | undefined): string {
  return text !== undefined && text.length <= 200 && OWN_PAGE.test(text) ? text : HOME;
}

/** The sign-in page that leads back to what was asked for; from a form's target back to the page that has the form. */
export function signInPath(method: string, path: string): string {
  const page = pageOf(method, path);
  return OWN_PAGE.test(page) ? `/sign-in?next=${encodeURIComponent(page)}` : "/sign-in";
}

/** The page that asks for the password again, and leads back as the sign-in page does. */
export function confirmPath(view: { path: string }, method: string, path: string): string {
  return `${view.path}/security/confirm?next=${encodeURIComponent(pageOf(method, path))}`;
}

function pageOf(method: string, path: string): string {
  return method === "GET" ? path : path.split("/").slice(0, 3).join("/");
}
