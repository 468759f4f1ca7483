// Imported for its effect on the process. By default the heap doubles before it is cleared, and its youngest part grows to
// 64 MB, as a load leaves much behind: this keeps the heap at a third more, and the youngest part as it begins.
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--heap-growing-percent=30");
setFlagsFromString("--semi-space-growth-factor=1");
