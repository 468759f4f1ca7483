import { spawnSync } from "node:child_process";

/** Returns whether a command is installed and succeeds with these arguments. */
export const succeeds = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
