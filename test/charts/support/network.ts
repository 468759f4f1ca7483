import { BlockList } from "node:net";
import type { KubernetesObject, Rendered } from "./render.ts";
import { NAMESPACE, podsOf } from "./render.ts";

/** One end of a connection. */
export type End =
  | { readonly pod: Readonly<Record<string, string>>; readonly namespace: string }
  | { readonly address: string };

type Labels = Readonly<Record<string, string>>;

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Selector {
  readonly matchLabels?: Labels;
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port?: number; readonly protocol?: string }[];
}

/** Returns the pod of a part of the product. */
export function podOf(rendered: Rendered, part: string): End {
  const pod = podsOf(rendered).find(({ labels }) => labels["app.kubernetes.io/component"] === part);
  if (!pod) throw new Error(`there is no pod of ${part}`);
  return { pod: pod.labels, namespace: NAMESPACE };
}

/** Returns a pod in another namespace. */
export const strangerPod = (pod: Labels = { app: "stranger" }): End => ({ pod, namespace: "elsewhere" });

/**
 * Returns whether the policies allow a connection, by Kubernetes' rules: an end that no policy selects for a direction
 * is open in that direction; otherwise a rule of one of the selecting policies must allow it. Both ends must agree.
 */
export function allows(rendered: Rendered, from: End, to: End, port: number, protocol = "TCP"): boolean {
  const policies = rendered.ofKind("NetworkPolicy");
  return (
    letsThrough(policies, "Egress", from, to, port, protocol) &&
    letsThrough(policies, "Ingress", to, from, port, protocol)
  );
}

function letsThrough(
  policies: readonly KubernetesObject[],
  direction: "Ingress" | "Egress",
  subject: End,
  other: End,
  port: number,
  protocol: string,
): boolean {
  if (!("pod" in subject) || subject.namespace !== NAMESPACE) return true;
  const mine = policies.filter(
    ({ spec }) => spec.policyTypes.includes(direction) && selects(spec.podSelector, subject.pod),
  );
  if (mine.length === 0) return true;
  const rules: Rule[] = mine.flatMap(({ spec }) => spec[direction.toLowerCase()] ?? []);
  return rules.some((rule) => {
    const peers = direction === "Ingress" ? rule.from : rule.to;
    const portFits =
      !rule.ports || rule.ports.some((one) => (one.port ?? port) === port && (one.protocol ?? "TCP") === protocol);
    return portFits && (!peers || peers.length === 0 || peers.some((peer) => fits(peer, other)));
  });
}

function fits(peer: Peer, end: End): boolean {
  if (peer.ipBlock) {
    if (!("address" in end)) return false; // a pod's address is not known before it runs
    return contains(peer.ipBlock.cidr, end.address) && !peer.ipBlock.except?.some((one) => contains(one, end.address));
  }
  if (!("pod" in end)) return false;
  if (!peer.namespaceSelector && end.namespace !== NAMESPACE) return false;
  if (
    peer.namespaceSelector?.matchLabels &&
    !selects(peer.namespaceSelector, { "kubernetes.io/metadata.name": end.namespace })
  )
    return false;
  return selects(peer.podSelector ?? {}, end.pod);
}

function selects({ matchLabels = {} }: Selector, labels: Labels): boolean {
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
}

function contains(cidr: string, address: string): boolean {
  const [network, bits] = cidr.split("/");
  const family = (text: string) => (text.includes(":") ? "ipv6" : "ipv4");
  if (family(network!) !== family(address)) return false;
  const list = new BlockList();
  list.addSubnet(network!, Number(bits), family(network!));
  return list.check(address, family(address));
}
