import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
rmSync(join(folder, "gen"), { recursive: true, force: true });
process.exitCode = spawnSync("buf", ["generate"], { cwd: folder, stdio: "inherit" }).status ?? 1;
