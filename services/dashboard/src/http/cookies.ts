import type { CookieOptions, Request, Response } from "express";

/**
 * Names with __Host- are kept by browsers only with Secure, Path=/ and without Domain: no neighbouring host and no
 * plaintext connection can plant one.
 */
export type CookieName =
  | "__Host-session"
  | "__Host-single-sign-on"
  | "__Host-form"
  | "__Host-second-step"
  | "__Host-passkey";

const attributes: CookieOptions = { secure: true, httpOnly: true, sameSite: "lax", path: "/" };

/** The value of a cookie that the browser sent; undefined where there is none or where it has an unexpected form. */
export function readCookie(request: Request, name: CookieName): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    // Values are base64url alone, so nothing needs to be decoded.
    if (key === name && value && /^[\w-]{16,128}$/.test(value)) return value;
  }
  return undefined;
}

/** Has the browser keep a cookie, until it is closed where `expires` is absent. */
export function writeCookie(response: Response, name: CookieName, value: string, expires?: Date): void {
  response.cookie(name, value, { ...attributes, expires });
}

export function clearCookie(response: Response, name: CookieName): void {
  response.clearCookie(name, attributes);
}
