// Load this with `node --import` before the service: libraries can be instrumented only before they are imported.
import { startTelemetry } from "./sdk.ts";

/** The telemetry of this process. */
export const telemetry = startTelemetry(process.env);
