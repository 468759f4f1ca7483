import { chmod, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../deploy/image/run.ts";
import { type Cache, type Download, ensureFetched, unpackWheel } from "../../../deploy/local/servers/downloads.ts";
import { customResources, SCHEMA_PATH } from "./custom-resources.ts";

/** The oldest Kubernetes that the chart supports, and the newest that has schemas. */
export const KUBERNETES = ["1.30.0", "1.37.0"] as const;

/** A program from an exact version of a Go module. Go checks it against its public checksum database. */
function goProgram(name: string, module: string, version: string, sizeMb: number): Download {
  return {
    folder: `${name}-${version}-${process.platform}-${process.arch}`,
    title: `${name} ${version}`,
    sizeMb,
    needs: [],
    async fetch(folder) {
      const env = { ...process.env, GOBIN: folder, GOPATH: join(folder, "modules"), GOFLAGS: "-modcacherw -trimpath" };
      await run("go", ["install", `${module}@${version}`], { cwd: folder, env });
      await rm(join(folder, "modules"), { recursive: true });
    },
  };
}

const WHEEL = {
  requirement: "kubernetes-validate==1.37.0",
  sha256: "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9",
};

/** The strict JSON schemas of Kubernetes' own objects, from a PyPI package. */
const schemas: Download = {
  folder: `kubernetes-schemas-${KUBERNETES.join("-")}`,
  title: "schemas of Kubernetes",
  sizeMb: 23,
  needs: ["python"],
  async fetch(folder) {
    const work = join(folder, "work");
    await unpackWheel(WHEEL, work);
    for (const version of KUBERNETES) {
      const to = join(folder, version);
      await rename(join(work, "kubernetes_validate/kubernetes-json-schema", `v${version}-local-strict`), to);
      for (const file of await readdir(to)) await makeRelative(join(to, file));
    }
    await rm(work, { recursive: true });
  },
};

/** Makes a schema's references relative: kubeconform lacks the server that they point to. */
async function makeRelative(file: string): Promise<void> {
  await chmod(file, 0o644);
  const { $id: _, ...schema } = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
  await writeFile(file, JSON.stringify(schema).replaceAll('"/api/_definitions.json', '"_definitions.json'));
}

export interface Checkers {
  readonly kubeconform: string;
  readonly kubeScore: string;
  /** Returns where kubeconform finds the schemas of a version of Kubernetes, and those of other projects. */
  readonly schemaLocations: (version: string) => readonly string[];
}

/** Returns the checkers; builds or fetches those that are not cached. Errors: no Go, no Python, or no network. */
export async function fetchCheckers(cache: Cache): Promise<Checkers> {
  const [conform, score, kubernetes, foreign] = [
    await ensureFetched(goProgram("kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform", "v0.8.0", 15), cache),
    await ensureFetched(goProgram("kube-score", "github.com/zegl/kube-score/cmd/kube-score", "v1.20.0", 65), cache),
    await ensureFetched(schemas, cache),
    await ensureFetched(customResources, cache),
  ];
  return {
    kubeconform: join(conform, "kubeconform"),
    kubeScore: join(score, "kube-score"),
    schemaLocations: (version) => [
      join(kubernetes, version, "{{.ResourceKind}}{{.KindSuffix}}.json"),
      join(foreign, SCHEMA_PATH),
    ],
  };
}
