export { type Admit, type AdmittedCall, type CallOwner, createAdmission } from "./admission.ts";
export { outside, seatless } from "./seat.ts";
