export { createForwardedWatch, forwardedFor } from "./forwarded-headers.ts";
export { type ObservedRequest, observeRequest } from "./observe-request.ts";
export { serveHttp } from "./server.ts";
