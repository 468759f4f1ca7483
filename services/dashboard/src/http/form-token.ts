import { createHash, randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { IdempotencySchema } from "@vvs/proto/common/v1/common";
import type { Request, Response } from "express";
import { readCookie, shortHash, writeTabCookie } from "./cookies.ts";
import { field } from "./form.ts";
import { ProblemError } from "./problem.ts";
import { isRefusal } from "./refusal.ts";

/** The hidden field of a form that must not take effect twice. */
export const FORM_TOKEN = "form_token";
/** How long the result of a form is kept for the second click of a double click. */
const SECOND_CLICK_MS = 10_000;
const TOKEN = /^([\w-]{22})([\w-]{22})$/;

/** Thrown for a form that was already sent, such as one whose answer was reloaded. */
export class FormUsedError extends Error {}

/** The forms of a page of a signed-in user, which must not take effect twice. */
export interface PageForms {
  /** Returns the token for the forms of a page: a new one, or that of the refused form that the page answers. */
  token(): string;
  /**
   * Runs the action of a form, once. Every page has a token of its own, so that tabs do not disturb each other. Success
   * leaves a cookie that marks the token as sent, so that every instance refuses the form afterwards. The second click of
   * a double click gets the result of the first one. If it reaches another instance, the service recognizes the form by its
   * submission or by `formIdempotency`, and refuses it with idempotency_conflict or repeats its answer. Errors: FormUsedError, also for that
   * conflict; ProblemError (outdated form) if the token is not one of this user; and all errors of `run`, after which the
   * same form may be corrected and sent again.
   */
  once<T>(run: (submission: string) => Promise<T>): Promise<T>;
}

/** Creates a function that returns the forms of a page, for the request that it answers. */
export function createPageForms(): (request: Request, response: Response, userId: string) => PageForms {
  const recent = new Map<string, Promise<unknown>>();

  return (request, response, userId) => {
    let hasTakenEffect = false;
    const checkOf = (nonce: string) => shortHash(JSON.stringify([nonce, userId]));

    /** Returns whether a token was issued to the user: a form of somebody who used this browser before is refused. */
    function isOwn(token: string): boolean {
      const [, nonce, check] = TOKEN.exec(token) ?? [];
      return nonce !== undefined && check === checkOf(nonce);
    }

    function markSent(token: string): void {
      hasTakenEffect = true;
      writeTabCookie(request, response, markOf(token), "1");
    }

    return {
      token() {
        const posted = field(request, FORM_TOKEN);
        if (isOwn(posted) && !hasTakenEffect) return posted;
        const nonce = randomBytes(16).toString("base64url");
        return nonce + checkOf(nonce);
      },

      async once<T>(run: (submission: string) => Promise<T>): Promise<T> {
        const token = field(request, FORM_TOKEN);
        if (!isOwn(token)) throw new ProblemError("outdated_form");
        if (readCookie(request, markOf(token))) {
          hasTakenEffect = true;
          throw new FormUsedError();
        }
        const id = submissionId(request);
        const first = recent.get(id) as Promise<T> | undefined;
        const result = first ?? run(createHash("sha256").update(token).digest("base64url"));
        if (!first) recent.set(id, result);
        try {
          const value = await result;
          markSent(token);
          if (!first) setTimeout(() => recent.delete(id), SECOND_CLICK_MS).unref();
          return value;
        } catch (error) {
          recent.delete(id);
          if (!isRefusal(error, "idempotency_conflict")) throw error;
          markSent(token);
          throw new FormUsedError();
        }
      },
    };
  };
}

const markOf = (token: string) => `__Host-sent-${shortHash(token)}` as const;

/** Returns an id that is equal for the same form with the same content, sent by the same session. */
function submissionId(request: Request): string {
  const session = readCookie(request, "__Host-session") ?? "";
  const text = JSON.stringify([session, request.path, request.body]);
  return createHash("sha256").update(text).digest("base64url");
}

/**
 * Returns the idempotency key of a form with its content, so that the service acts on it once, whichever instance passes it on,
 * and does not repeat its answer to a form that was corrected since.
 */
export function formIdempotency(
  { session, view }: { session: { userId: string }; view: { path: string } },
  form: string,
  request: Request,
): MessageInitShape<typeof IdempotencySchema> {
  // The content can hold a TIN. The session and the form's token, which nobody else has, are hashed with it.
  const key = submissionId(request);
  return { apiKeyId: session.userId, path: `${view.path}/${form}`, key, bodyHash: Buffer.from(key, "base64url") };
}
