import type { Role } from "./roles.ts";

/** Roles that may read and replace webhook secrets, and manage API keys. */
export const secretManagers: Role[] = ["owner", "developer"];
