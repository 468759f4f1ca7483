import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * `prepack` of the packages for users of the API, run in a package's folder: compiles `src` to `dist`, and makes
 * package.json that of the published package until `postpack`. npm neither knows `publishConfig` nor the versions of
 * a workspace.
 */
const MANIFEST = "package.json";
/** The checkout's manifest meanwhile. It is still there if packing was interrupted. */
const KEPT = ".package.json";

if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: ["ignore", 2, 2] });
if (status !== 0) process.exit(1);

const text = readFileSync(MANIFEST, "utf8");
const { scripts: _scripts, devDependencies: _dev, publishConfig, dependencies, ...fields } = JSON.parse(text);
const published = {
  ...fields,
  ...publishConfig,
  ...(dependencies && { dependencies: Object.fromEntries(Object.keys(dependencies).map(withVersion)) }),
};
writeFileSync(KEPT, text);
// A rename, because other processes may read the manifest at any time.
writeFileSync(`${MANIFEST}.new`, `${JSON.stringify(published, undefined, 2)}\n`);
renameSync(`${MANIFEST}.new`, MANIFEST);

/** Returns a dependency with the version that is installed, which is the one that the tests ran with. */
function withVersion(name: string): [name: string, version: string] {
  return [name, JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version];
}
