export { type Backoff, backoffMs } from "./backoff.ts";
export { type SupervisedLoop, superviseLoop } from "./loop.ts";
export { pause } from "./pause.ts";
