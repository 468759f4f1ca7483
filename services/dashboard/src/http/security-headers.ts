import type { RequestHandler } from "express";

/** Nothing but own files and own forms; no inline script or style, no other origin, in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Headers of every answer. `isHttps` adds HSTS, which browsers ignore on plaintext. */
export function securityHeaders(options: { isHttps: boolean }): RequestHandler {
  const headers: Record<string, string> = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    // Not no-referrer: with that, browsers send `Origin: null` with our own forms, and older ones nothing else to go by.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    // Pages carry secrets: no cache may keep one, and the back button must not show it after a sign-out.
    "cache-control": "no-store",
    ...(options.isHttps && { "strict-transport-security": "max-age=31536000" }),
  };
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}
