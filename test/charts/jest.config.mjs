// The chart's tests need no servers, so `npm run test:charts` starts none.
/** @type {import("jest").Config} */
export default {
  displayName: "charts",
  rootDir: "../..",
  runner: "<rootDir>/test/runner/runner.ts",
  transform: {},
  modulePathIgnorePatterns: ["<rootDir>/.local", "<rootDir>/.cache"],
  testMatch: ["<rootDir>/test/charts/**/*.test.ts"],
};
