import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority } from "@vvs/egress/testing/certificates";

/** Paths of PEM files from one private authority. */
export interface CertificateFiles {
  readonly ca: string;
  /** A server's certificate for this machine, with its key in the same file. */
  readonly server: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

export function writeCertificates(folder: string): CertificateFiles {
  const authority = createAuthority();
  const server = authority.issue(["DNS:localhost", "IP:127.0.0.1"]);
  const client = authority.issue(["DNS:client"]);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return {
    ca: file("ca.pem", authority.ca),
    server: file("server.pem", `${server.key}${server.cert}`),
    clientCert: file("client.pem", client.cert),
    clientKey: file("client.key", client.key),
  };
}

/** Returns the variables of a store (such as MONGODB) that name the client's files, as the chart sets them. */
export function tlsVariables(store: string, files: CertificateFiles): Record<string, string> {
  return {
    [`${store}_TLS_CA_FILE`]: files.ca,
    [`${store}_TLS_CERT_FILE`]: files.clientCert,
    [`${store}_TLS_KEY_FILE`]: files.clientKey,
  };
}
