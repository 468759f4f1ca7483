import type { BeginSession } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import type { AppOptions } from "./app-options.ts";
import type { ReadEndpoints, ReadPanel, ReadVendors } from "./panels.ts";

/** What the handlers of pages share. Each handler destructures the parts that it uses. */
export interface PageContext extends AppOptions {
  readonly layout: Layout;
  readonly beginSession: BeginSession;
  readonly readVendors: ReadVendors;
  readonly readEndpoints: ReadEndpoints;
  readonly readPanel: ReadPanel;
}
