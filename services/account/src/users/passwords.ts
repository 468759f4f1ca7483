import { hash, verify } from "@node-rs/argon2";
import { invalid } from "../refusals.ts";
import { isCommonPassword } from "./common-passwords.ts";

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane; about 11 ms of a core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const MIN_LENGTH = 8;
const MAX_LENGTH = 200;

/**
 * A hash that no password matches, with the same parameters. Verifying against it takes as long as against a user's, so
 * that the duration does not reveal whether an account exists.
 */
export const NOBODYS_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$/dPASvSBvXu13CPe5kGMfw$fb/FebD+JiPqP3PSXB+kCI5s0wPJbLh7OdTGCfyasOI";

/** Returns a password's argon2id hash in PHC format. Errors: invalid_request if it is too short, too long or common. */
export async function hashPassword(password: string): Promise<string> {
  const text = normalized(password);
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) {
    throw invalid("password", `must be ${MIN_LENGTH}–${MAX_LENGTH} characters`);
  }
  if (isCommonPassword(text)) {
    throw invalid("password", "is one of the most common passwords; choose several unrelated words instead");
  }
  return hash(text, PARAMETERS);
}

/** Returns whether a hash is that of the password. */
export async function matchesPassword(passwordHash: string, password: string): Promise<boolean> {
  const text = normalized(password);
  return text.length <= MAX_LENGTH && verify(passwordHash, text);
}

/** Keyboards encode the same visible character in several ways; NFKC makes them equal (NIST SP 800-63B). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
