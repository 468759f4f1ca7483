import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type RunOptions, run } from "../../deploy/image/run.ts";
import { type KubernetesTools, kubernetesTools } from "../charts/support/helm.ts";
import { chart } from "../charts/support/render.ts";

/** One namespace in the cluster of the current kubeconfig. */
export interface Cluster {
  readonly namespace: string;
  kubectl(args: readonly string[], options?: RunOptions): Promise<string>;
  helm(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Applies objects to the namespace. */
  apply(...objects: object[]): Promise<void>;
  get<T>(args: readonly string[]): Promise<T>;
}

/** Port on which the visitor reports what it has seen, and receives webhooks. */
export const VISITOR_PORT = 9911;

const tools: KubernetesTools | undefined = await kubernetesTools();

export function clusterOf(namespace: string): Cluster {
  const kubectl = (args: readonly string[], options?: RunOptions) =>
    run(tools!.kubectl, ["--namespace", namespace, ...args], options);
  return {
    namespace,
    kubectl,
    helm: (args, options) => run(tools!.helm, [...args, "--namespace", namespace], options),
    apply: async (...objects) => {
      const list = { apiVersion: "v1", kind: "List", items: objects };
      await kubectl(["apply", "--filename", "-"], { input: JSON.stringify(list) });
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

/** Returns helm's arguments for an installation with the development values and the given images. */
export function installArguments(options: {
  release: string;
  images: { product: string; stores: string | undefined };
  publicBaseUrl: string;
}): string[] {
  const { release, images } = options;
  const at = images.product.lastIndexOf(":");
  const set = [
    `image.repository=${images.product.slice(0, at)}`,
    `image.tag=${images.product.slice(at + 1)}`,
    `publicBaseUrl=${options.publicBaseUrl}`,
  ];
  if (images.stores)
    for (const store of ["mongodb", "kafka", "redis"]) set.push(`devStores.${store}.image=${images.stores}`);
  const values = ["--values", join(chart, "values-dev.yaml"), "--values", join(import.meta.dirname, "values.yaml")];
  return [
    release,
    chart,
    ...values,
    ...set.flatMap((one) => ["--set", one]),
    "--wait",
    "--wait-for-jobs",
    "--timeout",
    "8m",
  ];
}

/** Returns the visitor as a pod of the product's image, so that no other image is needed. */
export function visitorObjects(image: string, environment: Readonly<Record<string, string>>): object[] {
  const security = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  };
  const source = readFileSync(join(import.meta.dirname, "visitor.ts"), "utf8");
  const variables = Object.entries(environment).map(([name, value]) => ({ name, value }));
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "visitor" }, data: { "visitor.ts": source } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "visitor" },
      spec: {
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "visitor",
            image,
            command: ["node", "/visitor/visitor.ts"],
            env: [
              ...variables,
              { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
              { name: "PORT", value: String(VISITOR_PORT) },
            ],
            // Without it the pod is ready before the visitor listens.
            readinessProbe: { tcpSocket: { port: VISITOR_PORT }, periodSeconds: 1 },
            securityContext: security,
            volumeMounts: [{ name: "source", mountPath: "/visitor" }],
          },
        ],
        volumes: [{ name: "source", configMap: { name: "visitor" } }],
      },
    },
  ];
}
