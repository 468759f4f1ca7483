import type { Environment } from "@vvs/tenant";

/** How people know an environment: by the path, by its name, and by the beginning of its keys. */
export interface EnvironmentView {
  readonly environment: Environment;
  readonly path: "/live" | "/test";
  readonly name: "Live" | "Test";
  readonly explanation: string;
}

export const live: EnvironmentView = {
  environment: "live",
  path: "/live",
  name: "Live",
  explanation: "Real vendors, real checks.",
};

export const test: EnvironmentView = {
  environment: "sandbox",
  path: "/test",
  name: "Test",
  explanation: "Sandbox data. Nothing here is real.",
};

export const environmentViews: readonly EnvironmentView[] = [live, test];
