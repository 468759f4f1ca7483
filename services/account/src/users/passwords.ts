import { hash, verify } from "@node-rs/argon2";
import { ServiceError } from "@vvs/errors";
import { isCommonPassword } from "./common-passwords.ts";

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane; some 11 ms of a core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const MIN_LENGTH = 8;
const MAX_LENGTH = 200;

/**
 * The hash of a password that nobody has, made with the same parameters: verifying against it takes as long as against
 * a user's, so that time does not tell whether an account exists.
 */
export const NOBODYS_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$/dPASvSBvXu13CPe5kGMfw$fb/FebD+JiPqP3PSXB+kCI5s0wPJbLh7OdTGCfyasOI";

/** A password's argon2id hash in the PHC format. Errors: invalid_request where it is too short, too long or common. */
export async function hashPassword(password: string): Promise<string> {
  const text = normalized(password);
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) {
    throw refused(`must be ${MIN_LENGTH}–${MAX_LENGTH} characters`);
  }
  if (isCommonPassword(text)) {
    throw refused("is one of the most common passwords; choose several unrelated words instead");
  }
  return hash(text, PARAMETERS);
}

/** Is it the password of that hash? */
export async function matchesPassword(passwordHash: string, password: string): Promise<boolean> {
  const text = normalized(password);
  return text.length <= MAX_LENGTH && verify(passwordHash, text);
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path: "password", message }] });
}

/** Keyboards write one visible character in several ways: NFKC makes them one (NIST SP 800-63B). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
