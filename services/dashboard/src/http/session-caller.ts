import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SessionCallerSchema } from "@vvs/proto/account/v1/sessions";
import type { Request, Response } from "express";
import { requestIdOf } from "./access-log.ts";
import { readCookie } from "./cookies.ts";

/** Returns the caller for RPCs with which users manage their own account. */
export function sessionCaller(request: Request, response: Response): MessageInitShape<typeof SessionCallerSchema> {
  return {
    sessionToken: readCookie(request, "__Host-session"),
    clientAddress: request.ip ?? "",
    userAgent: request.headers["user-agent"] ?? "",
    requestId: requestIdOf(response),
  };
}
