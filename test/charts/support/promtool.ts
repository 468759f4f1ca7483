import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../deploy/image/run.ts";
import { type Download, ensureFetched } from "../../../deploy/local/servers/downloads.ts";
import { serverCacheDir } from "../../../deploy/local/servers/index.ts";

export const whyNoPromtool = "promtool is neither on the path nor in a package of this machine's apt";

/** Only promtool, from Debian's package. apt checks the signature, and nothing is installed. */
const download: Download = {
  folder: "promtool-debian-linux-x64",
  title: "promtool",
  sizeMb: 20,
  needs: [],
  async fetch(folder) {
    await run("apt-get", ["download", "prometheus"], { cwd: folder });
    const file = (await readdir(folder)).find((entry) => entry.endsWith(".deb"))!;
    await run("dpkg-deb", ["--extract", file, "whole"], { cwd: folder });
    await rename(join(folder, "whole/usr/bin/promtool"), join(folder, "promtool"));
    for (const rest of [file, "whole"]) await rm(join(folder, rest), { recursive: true });
  },
};

/** The promtool on the path, else Debian's; undefined if there is neither. */
export const promtool = await find();

async function find(): Promise<string | undefined> {
  const works = (program: string) =>
    run(program, ["--version"])
      .then(() => program)
      .catch(() => undefined);
  const own = await works("promtool");
  if (own || `${process.platform}-${process.arch}` !== "linux-x64") return own;
  const cache = {
    cacheDir: serverCacheDir(process.env),
    log: (line: string) => void process.stderr.write(`${line}\n`),
  };
  const folder = await ensureFetched(download, cache).catch(() => undefined);
  return folder && (await works(join(folder, "promtool")));
}
