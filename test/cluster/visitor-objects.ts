import { readFileSync } from "node:fs";
import { join } from "node:path";
import { restrictedPod } from "./restricted-pod.ts";

/** Port on which the visitor reports what it has seen, and receives webhooks. */
export const VISITOR_PORT = 9911;

export const visitorHost = (namespace: string) => `visitor.${namespace}.svc`;

/** Returns the visitor as a pod of the product's image, so that no other image is needed, and its host. */
export function visitorObjects(options: {
  readonly image: string;
  readonly namespace: string;
  readonly apiUrl: string;
  readonly apiKey: string;
}): object[] {
  const source = readFileSync(join(import.meta.dirname, "visitor.ts"), "utf8");
  const environment = {
    API_URL: options.apiUrl,
    API_KEY: options.apiKey,
    HOST: visitorHost(options.namespace),
    PORT: String(VISITOR_PORT),
  };
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "visitor" }, data: { "visitor.ts": source } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "visitor" },
      spec: { clusterIP: "None", selector: { app: "visitor" }, ports: [{ port: VISITOR_PORT }] },
    },
    restrictedPod({
      name: "visitor",
      files: { configMap: { name: "visitor" } },
      at: "/visitor",
      containers: [
        {
          name: "visitor",
          image: options.image,
          command: ["node", "/visitor/visitor.ts"],
          env: Object.entries(environment).map(([name, value]) => ({ name, value })),
          // Without it the pod is ready before the visitor listens.
          readinessProbe: { tcpSocket: { port: VISITOR_PORT }, periodSeconds: 1 },
        },
      ],
    }),
  ];
}
