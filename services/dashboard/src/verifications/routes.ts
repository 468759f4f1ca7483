import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createCertificateHandlers } from "./certificate.ts";
import { createEvidenceHandlers } from "./evidence.ts";
import { createRunVerificationHandlers } from "./run-verification.ts";
import { createVerificationHandler } from "./verification.ts";
import { createVerificationList } from "./verification-list.ts";

export function verificationRoutes(context: PageContext): PageRoutes {
  const run = createRunVerificationHandlers(context);
  const certificate = createCertificateHandlers(context);
  const evidence = createEvidenceHandlers(context);
  return [
    ["get", "/verifications", "read", createVerificationList(context).list],
    ["post", "/verifications", "verify", run.run],
    ["get", "/verifications/new", "verify", run.ask],
    ["get", "/verifications/:verification_id", "read", createVerificationHandler(context)],
    ["get", "/verifications/:verification_id/certificate", "read", certificate.view],
    ["get", "/verifications/:verification_id/receipt", "read", certificate.receipt],
    ["get", "/evidence/:evidence_id", "read", evidence.view],
    ["get", "/evidence/:evidence_id/content", "read", evidence.download],
  ];
}
