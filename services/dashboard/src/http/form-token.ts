import { createHash, randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import type { IdempotencySchema } from "@vvs/proto/common/v1/common";
import type { Request, Response } from "express";
import { clearCookie, readCookie, writeCookie } from "./cookies.ts";
import { field } from "./form.ts";
import type { Visit } from "./session.ts";

/** The hidden field of a form that must not take effect twice. */
export const FORM_TOKEN = "form_token";
/** How long the result of a form is kept for the second click of a double click. */
const SECOND_CLICK_MS = 10_000;

/** Thrown for a form that was already sent: its answer was reloaded, or another tab sent a form meanwhile. */
export class FormUsedError extends Error {}

export interface FormTokens {
  /** Returns the token for the forms of a page. */
  issue(request: Request, response: Response): string;
  /**
   * Runs the action of a form, once. The browser holds one open token in a cookie. Success deletes the cookie, so that
   * every instance refuses the form afterwards. The second click of a double click gets the result of the first one.
   * If it reaches another instance, the service recognizes the submission by its key, and refuses it with
   * idempotency_conflict or repeats its answer. Errors: FormUsedError, also for that conflict, and all errors of `run`;
   * after those the same form may be corrected and sent again.
   */
  once<T>(request: Request, response: Response, run: (submission: string) => Promise<T>): Promise<T>;
}

export function createFormTokens(): FormTokens {
  const recent = new Map<string, Promise<unknown>>();
  /** Responses to forms whose token was already used, although the browser still holds it. */
  const spent = new WeakSet<Response>();
  return {
    issue(request, response) {
      const open = spent.has(response) ? undefined : readCookie(request, "__Host-form");
      if (open) return open;
      const token = randomBytes(16).toString("base64url");
      writeCookie(response, "__Host-form", token);
      return token;
    },

    async once<T>(request: Request, response: Response, run: (submission: string) => Promise<T>): Promise<T> {
      const open = readCookie(request, "__Host-form");
      if (!open || field(request, FORM_TOKEN) !== open) throw new FormUsedError();
      const id = submissionId(request);
      const first = recent.get(id) as Promise<T> | undefined;
      const result = first ?? run(createHash("sha256").update(open).digest("base64url"));
      if (!first) recent.set(id, result);
      try {
        const value = await result;
        clearCookie(response, "__Host-form");
        if (!first) setTimeout(() => recent.delete(id), SECOND_CLICK_MS).unref();
        return value;
      } catch (error) {
        recent.delete(id);
        if (!(error instanceof ServiceError) || error.code !== "idempotency_conflict") throw error;
        spent.add(response);
        throw new FormUsedError();
      }
    },
  };
}

/** Returns an id that is equal for the same form with the same content, sent by the same session. */
function submissionId(request: Request): string {
  const session = readCookie(request, "__Host-session") ?? "";
  const text = JSON.stringify([session, request.path, request.body]);
  return createHash("sha256").update(text).digest("base64url");
}

/** Returns the idempotency key of a form, so that the service acts on it once, whichever instance passes it on. */
export function formIdempotency(
  { session, view }: Visit,
  form: string,
  submission: string,
): MessageInitShape<typeof IdempotencySchema> {
  // The hash is not that of the content, which can contain a TIN.
  const bodyHash = Buffer.from(submission, "base64url");
  return { apiKeyId: session.userId, path: `${view.path}/${form}`, key: submission, bodyHash };
}
