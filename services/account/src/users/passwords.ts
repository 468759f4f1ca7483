import { hash, verify } from "@node-rs/argon2";
import { type Admit, createAdmission } from "@vvs/fair-queue";
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

/** Hashes computed at the same time; each takes one of the four threads of the process, which files and names use too. */
const HASHES_AT_ONCE = 2;

/** Who asks for a hash. Known are people with a session, the link of an email or a device that signed in before. */
export type Asker = "known" | "stranger";

/** A flood of strangers takes one core at most, and a known person's hash waits for at most one of theirs. */
const OWNERS = {
  known: { owner: { class: "person", organizationId: "", environment: "" } },
  stranger: { owner: { class: "stranger", organizationId: "", environment: "" }, maxBegun: 1 },
} as const;

/** Creates the queue of one process's hashes. */
export const createHashQueue = (): Admit => createAdmission({ seats: HASHES_AT_ONCE, name: "passwords" });

export type Passwords = ReturnType<typeof createPasswords>;

/** Creates what hashes passwords. Errors of its functions: also those of the queue. */
export function createPasswords(admit = createHashQueue()) {
  const inTurn = <T>(asker: Asker, work: () => Promise<T>) => admit({ ...OWNERS[asker], kind: "password" }, work);
  return {
    /** Runs work with a hash when it is the asker's turn. */
    inTurn,

    /** Returns a password's argon2id hash in PHC format. Errors: invalid_request if it is too short, too long or common. */
    async hash(password: string, asker: Asker): Promise<string> {
      const text = normalized(password);
      if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) {
        throw invalid("password", `must be ${MIN_LENGTH}–${MAX_LENGTH} characters`);
      }
      if (isCommonPassword(text)) {
        throw invalid("password", "is one of the most common passwords; choose several unrelated words instead");
      }
      return inTurn(asker, () => hash(text, PARAMETERS));
    },

    /** Returns whether a hash is that of the password. */
    async matches(passwordHash: string, password: string, asker: Asker): Promise<boolean> {
      const text = normalized(password);
      return text.length <= MAX_LENGTH && inTurn(asker, () => verify(passwordHash, text));
    },
  };
}

/** Keyboards encode the same visible character in several ways; NFKC makes them equal (NIST SP 800-63B). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
