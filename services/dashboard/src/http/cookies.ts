import type { CookieOptions, Request, Response } from "express";

/**
 * Browsers accept a __Host- cookie only with Secure, Path=/ and without Domain, so no neighbouring host and no plaintext
 * connection can set one.
 */
export type CookieName =
  | "__Host-session"
  | "__Host-device"
  | "__Host-single-sign-on"
  | SentMark
  | "__Host-second-step"
  | "__Host-passkey";

/** Marks a form that took effect; the rest of the name identifies the form. */
export type SentMark = `__Host-sent-${string}`;

const attributes: CookieOptions = { secure: true, httpOnly: true, sameSite: "lax", path: "/" };

/** Returns the value of a cookie that the browser sent; undefined if it is absent or malformed. */
export function readCookie(request: Request, name: CookieName): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    // All values are base64url, so nothing needs to be decoded.
    if (key === name && value && /^[\w-]{16,128}$/.test(value)) return value;
  }
  return undefined;
}

/** Returns the marks that the browser sent, the oldest first. */
export function readSentMarks(request: Request): SentMark[] {
  const names = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim().split("=", 1)[0]!);
  return names.filter((name): name is SentMark => name.startsWith("__Host-sent-"));
}

/** Sets a cookie. Without `expires` the browser keeps it until it is closed. */
export function writeCookie(response: Response, name: CookieName, value: string, expires?: Date): void {
  response.cookie(name, value, { ...attributes, expires });
}

export function clearCookie(response: Response, name: CookieName): void {
  response.clearCookie(name, attributes);
}
