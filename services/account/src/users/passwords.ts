import { hash, verify } from "@node-rs/argon2";
import { invalid } from "../refusals.ts";
import { isCommonPassword } from "./common-passwords.ts";
import { type Asker, createWorkPool, type RunInTurn } from "./work-pool.ts";

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

/** Hashes computed at the same time; each takes one of the four threads of the process, which files and names use too. */
const HASHES_AT_ONCE = 2;
/** Less than a second of work. */
const MAX_WAITING = 64;

export type Passwords = ReturnType<typeof createPasswords>;

/** Creates what hashes passwords. Errors of both functions: also those of the pool. */
export function createPasswords(pool: RunInTurn = createWorkPool({ atOnce: HASHES_AT_ONCE, maxWaiting: MAX_WAITING })) {
  return {
    /** Returns a password's argon2id hash in PHC format. Errors: invalid_request if it is too short, too long or common. */
    async hash(password: string, asker: Asker): Promise<string> {
      const text = normalized(password);
      if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) {
        throw invalid("password", `must be ${MIN_LENGTH}–${MAX_LENGTH} characters`);
      }
      if (isCommonPassword(text)) {
        throw invalid("password", "is one of the most common passwords; choose several unrelated words instead");
      }
      return pool(asker, () => hash(text, PARAMETERS));
    },

    /** Returns whether a hash is that of the password. */
    async matches(passwordHash: string, password: string, asker: Asker): Promise<boolean> {
      const text = normalized(password);
      return text.length <= MAX_LENGTH && pool(asker, () => verify(passwordHash, text));
    },
  };
}

/** Keyboards encode the same visible character in several ways; NFKC makes them equal (NIST SP 800-63B). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
