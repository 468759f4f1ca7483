// Imported for its effect on the process. By default V8 lets the heap double before it collects garbage, of which a load
// creates much; with this flag it grows by a third.
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--heap-growing-percent=30");
