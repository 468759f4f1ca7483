import { once } from "node:events";
import { connect, createServer } from "node:net";
import { listening } from "@vvs/testing";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import type { Cluster } from "./cluster.ts";

/** A port of this machine that forwards connections to an address in the cluster. */
export interface Door {
  readonly port: number;
  /** Sets the target of new connections. */
  leadTo(host: string, port: number): void;
}

/** Opens a door without a target, until the tests of the file are over: the gateway's public address must be known before its Service exists. */
export async function openDoor(): Promise<Door> {
  let target: { host: string; port: number } | undefined;
  const server = createServer((socket) => {
    const there = connect(target ?? { host: "127.0.0.1", port: 0 });
    for (const [one, other] of [
      [socket, there],
      [there, socket],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  return {
    port: await listening(server, "127.0.0.1", await freePort()),
    leadTo(host, port) {
      target = { host, port };
    },
  };
}

/** Returns the host name of `nameThisMachine`. */
export const machineHost = ({ namespace }: Pick<Cluster, "namespace">) => `machine.${namespace}.svc`;

/** Gives this machine a name in the cluster, given an open port of one of its pods. Returns its address as pods see it. */
export async function nameThisMachine(cluster: Cluster, pod: { ip: string; port: number }): Promise<string> {
  const socket = connect(pod.port, pod.ip);
  await once(socket, "connect");
  const address = socket.localAddress!;
  socket.destroy();
  await cluster.apply(
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "machine" },
      spec: { clusterIP: "None", ports: [{ port: 443 }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "machine", labels: { "kubernetes.io/service-name": "machine" } },
      addressType: "IPv4",
      ports: [{ port: 443 }],
      endpoints: [{ addresses: [address] }],
    },
  );
  return address;
}
