import { ApiError } from "@vendor-verification/client";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";
import { keyToRepeat } from "./idempotency.ts";

/** Returns an error for scripts. */
export function errorJson(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error);
  const idempotency_key = keyToRepeat(error);
  if (!(error instanceof ApiError)) return { message, idempotency_key };
  const { code, status, requestId, docUrl, details, entityId, candidates } = error;
  return {
    error: code,
    message,
    status,
    request_id: requestId,
    doc_url: docUrl,
    idempotency_key,
    details: details.length > 0 ? details : undefined,
    entity_id: entityId,
    candidates: candidates.length > 0 ? candidates : undefined,
  };
}

/** Returns an error for people, with what to do. */
export function errorText(error: unknown): string {
  const key = keyToRepeat(error);
  if (key === undefined) return problemText(error);
  return `${problemText(error)} It may have taken effect. Run the same command with --idempotency-key ${key} to repeat it safely.`;
}

function problemText(error: unknown): string {
  if (error instanceof ApiError) return apiErrorText(error);
  if (!(error instanceof Error)) return `${error}.${REPORT}`;
  const code = exitCodeOf(error);
  if (code === exitCodes.unavailable) return `${error.message} Check the address and the network, or try again later.`;
  if (code !== exitCodes.internal) return error.message;
  return "syscall" in error ? `${error.message}. Check the path and your rights to it.` : `${error.message}.${REPORT}`;
}

const REPORT = " This is a fault of the program. Report it with the command that you ran.";

function apiErrorText({ message, details, candidates, entityId, requestId, docUrl }: ApiError): string {
  // The message of a single problem is the whole problem.
  const problems = details.map(({ path, message }) => `${path} ${message}`).filter((text) => !message.includes(text));
  const found = candidates.map(({ id, legal_name }) => `${id} (${legal_name})`);
  const source = [requestId && `request ${requestId}`, docUrl].filter(Boolean).join(", ");
  return [
    message,
    ...(/^No such \w+\.$/.test(message)
      ? ["Check the id, and that the key is of the same organization and environment."]
      : []),
    ...(problems.length > 0 ? [`${problems.join("; ")}.`] : []),
    ...(found.length > 0 ? [`Candidates: ${found.join(", ")}.`] : []),
    ...(entityId ? [`The entity is ${entityId}.`] : []),
    ...(source ? [`(${source})`] : []),
  ].join(" ");
}
