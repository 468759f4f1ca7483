import compression from "compression";
import type { RequestHandler } from "express";

/**
 * Compresses answers to GET requests. An attacker who makes a browser load a page and sees the length of the compressed
 * answer could guess a secret in it (BREACH). So answers to forms, on which keys, webhook secrets and recovery codes are
 * shown, are not compressed, nor is a page with `Cache-Control: no-transform`. Form tokens need no care: each page has a
 * new one, and they do not protect from other sites' forms.
 */
export function compressAnswers(): RequestHandler {
  return compression({
    filter: (request, response) => request.method === "GET" && compression.filter(request, response),
  });
}
