import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { launch, type ManagedServer, type ServerOptions } from "../../deploy/local/servers/managed.ts";
import { fetchMongod } from "../../deploy/local/servers/mongodb.ts";
import type { CertificateFiles } from "./certificates.ts";

const MONGODB_USER = { user: "vvs", pwd: "p@ss/word" };

/**
 * Starts MongoDB as a replica set of one that takes only TLS connections with a certificate of the authority, and only
 * signed-in users.
 */
export async function startSecuredMongodb(
  options: ServerOptions,
  files: CertificateFiles,
): Promise<ManagedServer & { uri: string }> {
  const program = await fetchMongod(options);
  const dbPath = join(options.dataDir, "db");
  const keyFile = join(options.dataDir, "members.key");
  mkdirSync(dbPath, { recursive: true });
  writeFileSync(keyFile, randomBytes(96).toString("base64"), { mode: 0o600 });
  const security = ["--auth", "--keyFile", keyFile];
  const tls = ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", files.server, "--tlsCAFile", files.ca];
  const server = await launch({
    name: "MongoDB",
    options,
    command: async (port) => ({
      command: program,
      args: [
        ...["--replSet", "rs0", "--dbpath", dbPath, "--bind_ip", "127.0.0.1", "--port", String(port)],
        ...["--nounixsocket", "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "990"],
        ...security,
        ...tls,
      ],
    }),
    probe: (port) => becomePrimary(port, files),
  });
  const login = `${MONGODB_USER.user}:${encodeURIComponent(MONGODB_USER.pwd)}`;
  return { ...server, uri: `mongodb://${login}@127.0.0.1:${server.port}/?replicaSet=rs0` };
}

/** Makes the member primary and creates its user, as MongoDB allows from its own machine before there is one. */
async function becomePrimary(port: number, files: CertificateFiles): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 1_000,
    tls: true,
    ca: readFileSync(files.ca, "utf8"),
    cert: readFileSync(files.clientCert, "utf8"),
    key: readFileSync(files.clientKey, "utf8"),
  });
  try {
    const admin = client.db("admin");
    const { isWritablePrimary } = await admin.command({ hello: 1 });
    if (!isWritablePrimary) {
      await admin.command({ replSetInitiate: { _id: "rs0", members: [{ _id: 0, host: `127.0.0.1:${port}` }] } });
      throw new Error("not primary yet");
    }
    await admin.command({ createUser: MONGODB_USER.user, pwd: MONGODB_USER.pwd, roles: ["root"] });
  } finally {
    await client.close();
  }
}
