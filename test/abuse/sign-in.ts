import { sharedProduct } from "../support/product.ts";

/** A browser's answer from the dashboard. */
export interface PageAnswer {
  readonly status: number;
  readonly text: string;
  /** The cookies that it set, as `name=value`. */
  readonly cookies: readonly string[];
}

/** Sends a form of the dashboard, as its own page would. The proxy reports the client's address last. */
export async function sendForm(
  path: string,
  fields: Readonly<Record<string, string>>,
  { cookies = [], forwardedFor }: { cookies?: readonly string[]; forwardedFor?: string } = {},
): Promise<PageAnswer> {
  return answerOf(
    await fetch(`${sharedProduct().dashboardUrl}${path}`, {
      method: "POST",
      redirect: "manual",
      headers: {
        "sec-fetch-site": "same-origin",
        cookie: cookies.join("; "),
        ...(forwardedFor && { "x-forwarded-for": forwardedFor }),
      },
      body: new URLSearchParams(fields),
    }),
  );
}

/** Opens a page of the dashboard. */
export async function openPage(path: string, cookies: readonly string[]): Promise<PageAnswer> {
  const headers = { cookie: cookies.join("; ") };
  return answerOf(await fetch(`${sharedProduct().dashboardUrl}${path}`, { redirect: "manual", headers }));
}

/** Signs in with a password: 303 if it succeeds. */
export function signIn(options: {
  email: string;
  password: string;
  cookies?: readonly string[];
  forwardedFor?: string;
}): Promise<PageAnswer> {
  const { email, password, ...rest } = options;
  return sendForm("/sign-in", { email, password }, rest);
}

async function answerOf(response: Response): Promise<PageAnswer> {
  return {
    status: response.status,
    text: await response.text(),
    cookies: response.headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0]!),
  };
}
