import { ServiceError } from "@vvs/errors";
import { nameProblem } from "@vvs/identifiers/text";

/** Returns the refusal of one field of a request. */
export function invalid(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}

/** Returns the refusal of a request for something that does not exist, or that belongs to another tenant. */
export function missing(what: string): ServiceError {
  return new ServiceError("not_found", { message: `There is no such ${what}.` });
}

/** Returns a name without surrounding spaces. Errors: invalid_request at `path`. */
export function checkedName(text: string, path: string, maxLength: number): string {
  const name = text.trim();
  const problem = nameProblem(name, maxLength);
  if (problem !== undefined) throw invalid(path, problem);
  return name;
}
