import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { run } from "../../deploy/image/run.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { FULL_NAME } from "../charts/support/render.ts";
import { exclusionsFileName } from "../support/exclusions-file.ts";
import type { SharedProduct } from "../support/product.ts";
import type { Cluster } from "./cluster.ts";

/** Time limit of the tests. Less than jest's own limit, which would leave them running. */
const LIMIT_MS = 540_000;

/**
 * A port of this machine that forwards to the gateway's Service. As the gateway's public address, it must be known
 * before the Service exists.
 */
export interface FrontDoor {
  readonly url: string;
  /** Sets the target of new connections. */
  leadTo(host: string, port: number): void;
  close(): void;
}

export async function openFrontDoor(): Promise<FrontDoor> {
  let target: { host: string; port: number } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const there = connect(target ?? { host: "127.0.0.1", port: 0 });
    for (const [one, other] of [
      [socket, there],
      [there, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(await freePort(), "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(host, port) {
      target = { host, port };
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Runs end-to-end tests from this machine: requests through the front door to the gateway's ClusterIP, accounts in the
 * cluster's own MongoDB under the cluster's own keys, subscribers on this machine. Errors: a test failed; a pod or
 * Service can't be reached from here.
 */
export async function runEndToEnd(cluster: Cluster, door: FrontDoor): Promise<void> {
  const gateway = await cluster.get<{ spec: { clusterIP: string } }>(["service", `${FULL_NAME}-gateway`]);
  door.leadTo(gateway.spec.clusterIP, 80);
  const mongodb = await cluster.get<{ status: { podIP: string } }>(["pod", `${FULL_NAME}-mongodb-0`]);
  const { data } = await cluster.get<{ data: Record<string, string> }>(["secret", `${FULL_NAME}-secrets`]);
  const secrets = Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]);
  const product: SharedProduct = {
    baseUrl: door.url,
    dashboardUrl: door.url,
    environment: {
      ...Object.fromEntries(secrets),
      MONGODB_URI: `mongodb://${mongodb.status.podIP}:27017/?directConnection=true`,
      MONGODB_DATABASE_PREFIX: "vvs_",
      DASHBOARD_URL: door.url,
    },
    prefix: "vvs_",
    logDir: "",
    spansFile: "",
  };
  await loadExtract(cluster);
  const env = {
    ...process.env,
    VVS_TEST_PRODUCT: JSON.stringify(product),
    SUBSCRIBER_HOST: await addressSeenBy(mongodb.status.podIP, 27017),
  };
  const jest = ["test/jest.ts", "--config", join(import.meta.dirname, "e2e.config.mjs")];
  const signal = AbortSignal.timeout(LIMIT_MS);
  await run(process.execPath, jest, {
    cwd: projectRoot,
    env,
    signal,
    onOutput: (text) => void process.stderr.write(text),
  });
}

/** Loads the extract that tests in live need, with the operator's command in a pod that has its variables. */
async function loadExtract(cluster: Cluster): Promise<void> {
  const inEntity = ["exec", "--stdin", `deploy/${FULL_NAME}-entity`, "--"];
  const files = [
    { kind: "registry", fixture: "registry.dat", name: "registry.dat" },
    { kind: "exclusions", fixture: "exclusions.csv", name: exclusionsFileName() },
  ];
  const load = files.map(({ kind, name }) => `--${kind} /tmp/sam/${name}`);
  const folder = join(projectRoot, "test/fixtures/sam");
  const text = files.map(
    ({ fixture, name }) => `cat >/tmp/sam/${name} <<'END'\n${readFileSync(join(folder, fixture), "utf8")}END\n`,
  );
  const script = `set -e\nmkdir -p /tmp/sam\n${text.join("")}exec /app/deploy/image/vvs registry load --environment live ${load.join(" ")}\n`;
  await cluster.kubectl([...inEntity, "sh"], { input: script });
}

/** Returns the address by which pods reach this machine: its own end of a connection to a pod. */
async function addressSeenBy(podIp: string, port: number): Promise<string> {
  const socket = connect(port, podIp);
  await once(socket, "connect");
  const { localAddress } = socket;
  socket.destroy();
  return localAddress!;
}
