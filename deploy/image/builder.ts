import { run } from "./run.ts";

export interface ImageBuild {
  /** Name and tag. */
  readonly image: string;
  readonly dockerfile: string;
  readonly context: string;
  readonly args?: Readonly<Record<string, string>>;
  readonly onOutput?: (text: string) => void;
}

/** A program that builds images on this machine. */
export interface Builder {
  readonly name: "docker" | "buildah";
  build(build: ImageBuild): Promise<void>;
  /** Writes an image to a tar archive that `docker load` and `ctr images import` read. */
  save(image: string, file: string): Promise<void>;
  /** Returns the unpacked size of an image in bytes. */
  size(image: string): Promise<number>;
  remove(image: string): Promise<void>;
}

const docker: Builder = {
  name: "docker",
  async build({ image, dockerfile, context, args, onOutput }) {
    await run("docker", ["build", "--tag", image, "--file", dockerfile, ...buildArgs(args), context], { onOutput });
  },
  async save(image, file) {
    await run("docker", ["save", "--output", file, image]);
  },
  size: async (image) => Number(await run("docker", ["image", "inspect", "--format", "{{.Size}}", image])),
  async remove(image) {
    await run("docker", ["image", "rm", image]);
  },
};

const buildah: Builder = {
  name: "buildah",
  async build({ image, dockerfile, context, args, onOutput }) {
    // A build in a container may not raise limits; the caller's are enough.
    const limits = ["--ulimit", "nofile=1024:1024"];
    const options = ["--layers=false", ...limits, "--tag", image, "--file", dockerfile, ...buildArgs(args)];
    await run("buildah", ["bud", ...options, context], { env: isolated(), onOutput });
  },
  async save(image, file) {
    await run("buildah", ["push", "--quiet", image, `docker-archive:${file}:${image}`], { env: isolated() });
  },
  async size(image) {
    const [found] = JSON.parse(await run("buildah", ["images", "--json", image], { env: isolated() }));
    return sizeInBytes(found.size);
  },
  async remove(image) {
    await run("buildah", ["rmi", image], { env: isolated() });
  },
};

/** Converts a size of buildah, such as "1.2 GB", to bytes. */
function sizeInBytes(text: string): number {
  const [, number, unit] = /^([\d.]+) ?([KMG]?)B$/.exec(text) ?? [];
  return Number(number) * { "": 1, K: 1e3, M: 1e6, G: 1e9 }[unit as "" | "K" | "M" | "G"];
}

/** Returns settings with which buildah needs no rights beyond the caller's. */
function isolated(): NodeJS.ProcessEnv {
  return { BUILDAH_ISOLATION: "chroot", ...process.env };
}

function buildArgs(args: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(args).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
}

/** Returns Docker if its daemon answers, else buildah, or undefined if neither works. */
export async function findBuilder(): Promise<Builder | undefined> {
  for (const [builder, probe] of [
    [docker, ["docker", "info"]],
    [buildah, ["buildah", "--version"]],
  ] as const) {
    const [command, ...args] = probe;
    const works = await run(command!, args).then(
      () => true,
      () => false,
    );
    if (works) return builder;
  }
  return undefined;
}
