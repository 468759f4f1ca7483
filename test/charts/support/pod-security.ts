import type { KubernetesObject } from "./render.ts";

const VOLUMES = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** Returns what Pod Security's restricted profile refuses in a pod. Checks only fields that a chart could set. */
export function violations(pod: KubernetesObject): string[] {
  const found: string[] = [];
  const refuse = (condition: boolean, text: string) => void (condition && found.push(text));
  for (const field of ["hostNetwork", "hostPID", "hostIPC"]) refuse(Boolean(pod[field]), field);
  for (const volume of pod.volumes ?? []) {
    for (const kind of Object.keys(volume)) refuse(kind !== "name" && !VOLUMES.has(kind), `a volume of ${kind}`);
  }
  const context = pod.securityContext ?? {};
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  for (const container of containers) {
    const own = container.securityContext ?? {};
    const at = (text: string) => `${container.name}: ${text}`;
    refuse(own.privileged === true, at("privileged"));
    refuse(own.allowPrivilegeEscalation !== false, at("can gain privileges"));
    refuse(!own.capabilities?.drop?.includes("ALL"), at("keeps capabilities"));
    refuse(
      (own.capabilities?.add ?? []).some((name: string) => name !== "NET_BIND_SERVICE"),
      at("adds capabilities"),
    );
    refuse((own.runAsNonRoot ?? context.runAsNonRoot) !== true, at("may be root"));
    refuse((own.runAsUser ?? context.runAsUser) === 0, at("is root"));
    const profile = (own.seccompProfile ?? context.seccompProfile)?.type;
    refuse(profile !== "RuntimeDefault" && profile !== "Localhost", at("no seccomp profile"));
    refuse(
      (container.ports ?? []).some((port: { hostPort?: number }) => port.hostPort),
      at("a port of the host"),
    );
  }
  return found;
}
