import { type RunOptions, run } from "../../deploy/image/run.ts";
import { type KubernetesTools, kubernetesTools } from "../charts/support/helm.ts";

/** One namespace in the cluster of the current kubeconfig. */
export interface Cluster {
  readonly namespace: string;
  kubectl(args: readonly string[], options?: RunOptions): Promise<string>;
  helm(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Creates the namespace, in which pods must satisfy Pod Security's `restricted` profile. */
  create(): Promise<void>;
  /** Removes the namespace with everything in it, also one that an earlier run could not clean up. */
  remove(): Promise<void>;
  /** Applies objects to the namespace. */
  apply(...objects: object[]): Promise<void>;
  get<T>(args: readonly string[]): Promise<T>;
}

const tools: KubernetesTools | undefined = await kubernetesTools();

export function clusterOf(namespace: string): Cluster {
  const kubectl = (args: readonly string[], options?: RunOptions) =>
    run(tools!.kubectl, ["--namespace", namespace, ...args], options);
  const apply = async (...objects: object[]) => {
    const list = { apiVersion: "v1", kind: "List", items: objects };
    await kubectl(["apply", "--filename", "-"], { input: JSON.stringify(list) });
  };
  return {
    namespace,
    kubectl,
    helm: (args, options) => run(tools!.helm, [...args, "--namespace", namespace], options),
    apply,
    async create() {
      const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
      await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
    },
    async remove() {
      await kubectl(["delete", "namespace", namespace, "--ignore-not-found", "--timeout=5m"]);
    },
    get: async (args) => JSON.parse(await kubectl(["get", ...args, "--output", "json"])),
  };
}

/**
 * Puts an image into the cluster with the command in CLUSTER_IMAGE_IMPORT, to which the archive's path is appended;
 * else with `kind load` if the context is kind's. Errors: neither applies, or the command fails.
 */
export async function importImage(archive: string): Promise<void> {
  const given = process.env.CLUSTER_IMAGE_IMPORT;
  if (given) {
    await run("sh", ["-c", `${given} "$0"`, archive]);
    return;
  }
  const context = (await run(tools!.kubectl, ["config", "current-context"])).trim();
  if (!context.startsWith("kind-"))
    throw new Error("set CLUSTER_IMAGE_IMPORT to the command that puts an image's archive into the cluster");
  await run("kind", ["load", "image-archive", archive, "--name", context.slice("kind-".length)]);
}
