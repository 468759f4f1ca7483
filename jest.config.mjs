/** @type {import("jest").Config} */
const shared = {
  runner: "<rootDir>/test/runner/runner.ts",
  transform: {},
  modulePathIgnorePatterns: ["<rootDir>/.local", "<rootDir>/.cache"],
};

/** @type {import("jest").Config} */
const withProduct = {
  ...shared,
  globalSetup: "<rootDir>/test/setup/product.ts",
  globalTeardown: "<rootDir>/test/setup/stop-product.ts",
};

/** Tests in test/ that use no process of the product. */
const WITHOUT_PRODUCT =
  "**/test/(import-order|bench/**/*|costs/*|retention/*|stores/*|twin/*|providers/(older-data|queued-runs)).test.ts";
/** Tests that start processes of the product by themselves, and mostly wait: they run beside others (test/runner). */
const PROCESSES = "**/test/((alerts|faults|providers|published|webhooks)/*|e2e/local-run).test.ts";
/** Tests that load or change the product so much that others would notice. */
const ALONE = "**/test/(abuse/*|e2e/account-parts).test.ts";

/** @type {import("jest").Config} */
export default {
  projects: [
    {
      ...shared,
      displayName: "unit",
      testMatch: ["<rootDir>/{proto,packages,services,deploy}/**/*.test.ts", WITHOUT_PRODUCT],
    },
    {
      ...withProduct,
      displayName: "system",
      testMatch: ["<rootDir>/test/**/*.test.ts", `!${ALONE}`, `!${PROCESSES}`, `!${WITHOUT_PRODUCT}`],
      testPathIgnorePatterns: ["/node_modules/", "<rootDir>/test/(charts|clients|cluster|fuzz)/"],
    },
    { ...withProduct, displayName: "clients", testMatch: ["<rootDir>/test/clients/*.test.ts"] },
    { ...withProduct, displayName: "fuzz", testMatch: ["<rootDir>/test/fuzz/*.test.ts"] },
    { ...shared, displayName: "processes", testMatch: [PROCESSES, `!${WITHOUT_PRODUCT}`] },
    { ...withProduct, displayName: "alone", testMatch: [ALONE] },
    "<rootDir>/test/charts/jest.config.mjs",
  ],
  globalSetup: "<rootDir>/test/setup/servers.ts",
  globalTeardown: "<rootDir>/test/setup/stop-servers.ts",
  testTimeout: 60_000,
};
