import type { Admit } from "@vvs/fair-queue";
import type { Logger } from "@vvs/logging";
import type { Clients } from "./clients.ts";

/** What the dashboard is made of: the clients of the services that it calls, and its settings. */
export interface AppOptions extends Clients {
  /** The queue in which pages of signed-in users wait for their turn. */
  readonly admit: Admit;
  /** The dashboard as browsers see it. */
  readonly url: URL;
  /** The API as its clients see it. */
  readonly apiBaseUrl: URL;
  readonly trustedProxyHops: number;
  /** Whether /mailbox shows the emails that the account service keeps; only for local runs. */
  readonly localMailbox: boolean;
  readonly logger: Logger;
  readonly now: () => Date;
}
