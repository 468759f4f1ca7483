export { type Admit, type AdmittedCall, type CallOwner, createAdmission } from "./admission.ts";
export { callsSection } from "./config.ts";
export { inParts, outside, seatless } from "./seat.ts";
