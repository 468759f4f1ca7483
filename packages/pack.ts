import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * `prepack` of the packages for users of the API, run in a package's folder: compiles `src` to `dist`, and makes
 * package.json that of the published package until `postpack`. npm neither knows `publishConfig` nor the versions of
 * a workspace. Private packages become part of `dist`.
 */
const MANIFEST = "package.json";
/** The checkout's manifest meanwhile. It is still there if packing was interrupted. */
const KEPT = ".package.json";
const PRIVATE = "@vvs/";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
}

if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
rmSync("dist", { recursive: true, force: true });
compile("tsconfig.build.json");
/** Folders of the private packages by their names. */
const folders = new Map<string, string>();
const versions: Record<string, string> = {};
collect(".");
for (const [name, folder] of folders) compilePrivate(name, folder);
if (folders.size > 0) for (const file of globSync("dist/**/*.js")) withRelativeImports(file);

const text = readFileSync(MANIFEST, "utf8");
const { scripts: _scripts, devDependencies: _dev, publishConfig, dependencies, ...fields } = JSON.parse(text);
const published = { ...fields, ...publishConfig, ...(dependencies && { dependencies: versions }) };
writeFileSync(KEPT, text);
// A rename, because other processes may read the manifest at any time.
writeFileSync(`${MANIFEST}.new`, `${JSON.stringify(published, undefined, 2)}\n`);
renameSync(`${MANIFEST}.new`, MANIFEST);

function compile(project: string): void {
  const { status } = spawnSync("tsc", ["-p", project], { stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(1);
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
}

/** Collects what a package needs: private packages, and the installed versions of others, with which the tests ran. */
function collect(folder: string): void {
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    const installed = join(folder, "node_modules", name);
    if (!name.startsWith(PRIVATE)) versions[name] = JSON.parse(readFileSync(join(installed, MANIFEST), "utf8")).version;
    else if (!folders.has(name)) {
      folders.set(name, realpathSync(installed));
      collect(realpathSync(installed));
    }
  }
}

function compilePrivate(name: string, folder: string): void {
  const project = "tsconfig.private.json";
  const src = join(folder, "src");
  const options = {
    extends: "./tsconfig.build.json",
    compilerOptions: { rootDir: src, outDir: join("dist", name) },
    include: [src],
    exclude: [`${src}/**/*.test.ts`, `${src}/testing`],
  };
  writeFileSync(project, JSON.stringify(options));
  compile(project);
  rmSync(project);
}

/** Makes imports of private packages imports of their files in `dist`. */
function withRelativeImports(file: string): void {
  const code = readFileSync(file, "utf8");
  const rewritten = code.replaceAll(/(?<=from ")(@vvs\/[^/"]+)(\/[^"]+)?(?=")/g, (_, name: string, path = "") => {
    const source = manifestOf(folders.get(name)!).exports![`.${path}`]!;
    const target = join("dist", name, relative("src", source).replace(/\.ts$/, ".js"));
    return `./${relative(dirname(file), target)}`;
  });
  if (rewritten !== code) writeFileSync(file, rewritten);
}
