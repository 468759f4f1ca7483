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
const WITHOUT_PRODUCT = "**/test/(bench/**/*|stores/*|providers/(older-data|queued-runs)).test.ts";
/** Tests that start processes of their own, or load the product so much that others would wait. */
const ALONE = "**/test/((abuse|alerts|faults|providers|webhooks)/*|e2e/(account-parts|local-run)).test.ts";

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
      testMatch: ["<rootDir>/test/**/*.test.ts", `!${ALONE}`, `!${WITHOUT_PRODUCT}`],
      testPathIgnorePatterns: ["/node_modules/", "<rootDir>/test/charts/", "<rootDir>/test/cluster/"],
    },
    { ...withProduct, displayName: "alone", testMatch: [ALONE, `!${WITHOUT_PRODUCT}`] },
    "<rootDir>/test/charts/jest.config.mjs",
  ],
  globalSetup: "<rootDir>/test/setup/servers.ts",
  globalTeardown: "<rootDir>/test/setup/stop-servers.ts",
  testTimeout: 60_000,
};
