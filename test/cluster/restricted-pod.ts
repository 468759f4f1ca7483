/** A container of the tests, with the fields that Kubernetes has for it. */
interface TestContainer {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly [field: string]: unknown;
}

/** Returns a pod of the tests, as Pod Security's `restricted` profile requires it. Its label `app` is its name. */
export function restrictedPod(options: {
  readonly name: string;
  /** A volume that each container mounts. */
  readonly files: object;
  /** Where they mount it. */
  readonly at: string;
  readonly containers: readonly TestContainer[];
}): object {
  const { name, files, at, containers } = options;
  const securityContext = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  };
  const volumeMounts = [
    { name: "files", mountPath: at },
    { name: "data", mountPath: "/data" },
    { name: "tmp", mountPath: "/tmp" },
  ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: name } },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: containers.map((container) => ({
        imagePullPolicy: "IfNotPresent",
        ...container,
        securityContext,
        volumeMounts,
      })),
      volumes: [
        { name: "files", ...files },
        { name: "data", emptyDir: {} },
        { name: "tmp", emptyDir: {} },
      ],
    },
  };
}
