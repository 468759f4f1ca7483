import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Builder } from "../../deploy/image/builder.ts";
import { run } from "../../deploy/image/run.ts";
import { fetchStorePrograms } from "../../deploy/local/servers/index.ts";

/** Libraries of the base image, which can load no C library but its own. */
const OF_THE_BASE = /\/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv))\.so/;

const dockerfile = (base: string) => `FROM ${base}
COPY opt /opt
ENV LD_LIBRARY_PATH=/opt/lib PATH=/opt/bin:/opt/java/bin:/usr/local/bin:/usr/bin:/bin
USER 1000:1000
`;

/**
 * Builds one image with the programs of MongoDB, Kafka and Redis in the places of their official images: `mongod` and
 * `redis-server` on the path, `java` with Kafka's classes in /opt/kafka/libs. For clusters that can't pull images.
 */
export async function buildStoreImage(builder: Builder, base: string, image: string): Promise<void> {
  const programs = await fetchStorePrograms(process.env, (line) => void process.stderr.write(`${line}\n`));
  const context = mkdtempSync(join(tmpdir(), "vvs-stores-"));
  try {
    const opt = join(context, "opt");
    for (const folder of ["bin", "lib", "kafka"]) mkdirSync(join(opt, folder), { recursive: true });
    for (const program of [programs.mongod, programs.redisServer]) {
      copyFileSync(program, join(opt, "bin", basename(program)));
      chmodSync(join(opt, "bin", basename(program)), 0o755);
    }
    cpSync(programs.kafkaLibs, join(opt, "kafka/libs"), { recursive: true });
    const java = dirname(dirname(realpathSync((await run("which", ["java"])).trim())));
    cpSync(java, join(opt, "java"), {
      recursive: true,
      dereference: true,
      filter: (path) => !/\/(legal|man|docs|src\.zip)$/.test(path),
    });
    const parts = [programs.mongod, programs.redisServer, join(java, "bin/java"), join(java, "lib/server/libjvm.so")];
    for (const part of parts) await copyLibraries(part, join(opt, "lib"));
    writeFileSync(join(context, "Dockerfile"), dockerfile(base));
    await builder.build({ image, dockerfile: join(context, "Dockerfile"), context });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

async function copyLibraries(program: string, folder: string): Promise<void> {
  for (const [, library] of (await run("ldd", [program])).matchAll(/=> (\/\S+)/g)) {
    if (!OF_THE_BASE.test(library!)) copyFileSync(library!, join(folder, basename(library!)));
  }
}
