import type { RequestHandler } from "express";

/** Allows only the dashboard's own files and forms: no inline scripts or styles, no other origins, no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Sets the security headers of every response. `isHttps` adds HSTS, which browsers ignore without TLS. */
export function securityHeaders(options: { isHttps: boolean }): RequestHandler {
  const headers: Record<string, string> = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    // Not no-referrer: browsers would then send `Origin: null` with our own forms, and older ones send nothing else to check.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    // Pages can contain secrets: no cache may keep them, and the back button must not show them after a sign-out.
    "cache-control": "no-store",
    ...(options.isHttps && { "strict-transport-security": "max-age=31536000" }),
  };
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}
