// Creates certificates for tests with openssl.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** Its own certificate, in PEM. */
  readonly ca: string;
  readonly key: string;
  /** Issues a certificate for names and addresses, such as DNS:localhost or IP:127.0.0.1. */
  issue(altNames: readonly string[], options?: { expired?: boolean }): Certificate;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Creates an authority that only clients configured with its certificate trust. */
export function createAuthority(): Authority {
  return inFolder((folder, openssl) => {
    openssl("req", "-x509", ...NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test");
    const [ca, key] = [readFileSync(join(folder, "ca.pem"), "utf8"), readFileSync(join(folder, "ca.key"), "utf8")];
    return { ca, key, issue: (altNames, options) => issue({ cert: ca, key }, altNames, options?.expired ?? false) };
  });
}

function issue(authority: Certificate, altNames: readonly string[], expired: boolean): Certificate {
  return inFolder((folder, openssl) => {
    writeFileSync(join(folder, "ca.pem"), authority.cert);
    writeFileSync(join(folder, "ca.key"), authority.key);
    writeFileSync(join(folder, "ext"), `subjectAltName=${altNames.join(",")}\n`);
    openssl("req", ...NEW_KEY, "-keyout", "key", "-out", "csr", "-subj", "/CN=subscriber");
    const days = expired ? "-1" : "2";
    const from = ["-CA", "ca.pem", "-CAkey", "ca.key", "-extfile", "ext", "-days", days];
    openssl("x509", "-req", "-in", "csr", ...from, "-out", "cert");
    return { cert: readFileSync(join(folder, "cert"), "utf8"), key: readFileSync(join(folder, "key"), "utf8") };
  });
}

function inFolder<T>(work: (folder: string, openssl: (...args: string[]) => void) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "certificates-"));
  try {
    return work(folder, (...args) => void execFileSync("openssl", args, { cwd: folder, stdio: "pipe" }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
