import { join } from "node:path";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import type { SharedProduct } from "./product.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

/** The parts of account in processes of their own, with a gateway and a dashboard that use these. */
export interface AccountParts {
  readonly keys: ServiceProcess;
  readonly people: ServiceProcess;
  readonly gateway: ServiceProcess;
  readonly baseUrl: string;
  readonly dashboardUrl: string;
}

/** Starts the processes with the variables of a running product, whose other services they use. */
export async function startAccountParts(product: Pick<SharedProduct, "environment" | "logDir">): Promise<AccountParts> {
  const start = (
    name: "account" | "gateway" | "dashboard",
    log: string,
    own: Readonly<Record<string, string>>,
  ): Promise<ServiceProcess> => {
    const logFile = join(product.logDir, `${log}.log`);
    return startServiceProcess({ name, environment: { ...product.environment, ...own }, logFile });
  };
  // Without the peppers, which only keys need.
  const people = await start("account", "account-people", { ACCOUNT_PART: "people", API_KEY_PEPPERS: "" });
  const keys = await start("account", "account-keys", { ACCOUNT_PART: "keys" });
  const [apiPort, dashboardPort] = [await freePort(), await freePort()];
  const addresses = {
    ACCOUNT_ADDRESS: `127.0.0.1:${keys.ports.rpc}`,
    ACCOUNT_PEOPLE_ADDRESS: `127.0.0.1:${people.ports.rpc}`,
  };
  const dashboardUrl = `http://localhost:${dashboardPort}`;
  const gateway = await start("gateway", "gateway-of-parts", { ...addresses, HTTP_PORT: String(apiPort) });
  await start("dashboard", "dashboard-of-parts", {
    ...addresses,
    HTTP_PORT: String(dashboardPort),
    DASHBOARD_URL: dashboardUrl,
  });
  return { keys, people, gateway, baseUrl: `http://127.0.0.1:${apiPort}`, dashboardUrl };
}
