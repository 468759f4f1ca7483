import { createHash } from "node:crypto";
import type { CookieOptions, Request, Response } from "express";

/**
 * Browsers accept a __Host- cookie only with Secure, Path=/ and without Domain, so no neighbouring host and no plaintext
 * connection can set one.
 */
export type CookieName = "__Host-session" | "__Host-device" | TabCookie;

/** Cookies of one form or one sign-in, whose id ends the name, so that the tabs of a browser do not disturb each other. */
export type TabCookie = `${keyof typeof mostOf}-${string}`;

/** How many of them a browser keeps. */
const mostOf = {
  /** Marks a form that took effect. */
  "__Host-sent": 40,
  "__Host-second-step": 10,
  "__Host-passkey": 10,
  "__Host-single-sign-on": 10,
};

const attributes: CookieOptions = { secure: true, httpOnly: true, sameSite: "lax", path: "/" };

/** Returns the value of a cookie that the browser sent; undefined if it is absent or malformed. */
export function readCookie(request: Request, name: CookieName): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    // All values are base64url, so nothing needs to be decoded.
    if (key === name && value && /^[\w-]{1,128}$/.test(value)) return value;
  }
  return undefined;
}

/** Returns an id that can be in a page and in a cookie's name, and does not reveal the text that it stands for. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** Sets a cookie. Without `expires` the browser keeps it until it is closed. */
export function writeCookie(response: Response, name: CookieName, value: string, expires?: Date): void {
  response.cookie(name, value, { ...attributes, expires });
}

/** Sets a cookie of one form or one sign-in. The browser forgets the oldest of its kind when it has too many. */
export function writeTabCookie(
  request: Request,
  response: Response,
  name: TabCookie,
  value: string,
  expires?: Date,
): void {
  const [kind, most] = Object.entries(mostOf).find(([start]) => name.startsWith(`${start}-`))!;
  const names = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim().split("=", 1)[0]!);
  // Browsers send the oldest first (RFC 6265, section 5.4).
  const known = names.filter((known): known is TabCookie => known.startsWith(`${kind}-`));
  for (const oldest of known.slice(0, Math.max(0, known.length + 1 - most))) clearCookie(response, oldest);
  writeCookie(response, name, value, expires);
}

export function clearCookie(response: Response, name: CookieName): void {
  response.clearCookie(name, attributes);
}
