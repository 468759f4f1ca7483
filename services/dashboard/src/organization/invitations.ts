import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { SendMembers } from "./members.ts";

/** Handlers with which owners invite people. The list of invitations is part of the members page. */
export interface InvitationHandlers {
  readonly create: PageHandler;
  readonly resend: PageHandler;
  readonly revoke: PageHandler;
}

export function createInvitationHandlers(options: {
  organization: Pick<Client<typeof OrganizationService>, "createInvitation" | "resendInvitation" | "revokeInvitation">;
  sendMembers: SendMembers;
}): InvitationHandlers {
  const { organization, sendMembers } = options;

  /** Runs the action of a form and redirects to the list. Repeating an action has no further effect. */
  async function run(request: Request, response: Response, visit: Visit, done: string, work: () => Promise<unknown>) {
    try {
      await work();
      response.redirect(303, `${visit.view.path}/organization/members?done=${done}`);
    } catch (error) {
      const text = refusalOf(error, "The invitation");
      await sendMembers(request, response, visit, { status: statusOf(error), notice: { kind: "problem", text } });
    }
  }

  return {
    async create(request, response, visit) {
      const typed = { email: field(request, "email").trim(), role: field(request, "role") };
      try {
        await organization.createInvitation({ caller: toProtoCaller(visit.caller), ...typed });
        response.redirect(303, `${visit.view.path}/organization/members?done=invited`);
      } catch (error) {
        const problem = refusalOf(error, "The email address");
        await sendMembers(request, response, visit, { status: statusOf(error), invitation: { ...typed, problem } });
      }
    },

    resend: (request, response, visit) =>
      run(request, response, visit, "resent", () =>
        organization.resendInvitation({ caller: toProtoCaller(visit.caller), invitationId: invitationIdOf(request) }),
      ),

    revoke: (request, response, visit) =>
      run(request, response, visit, "revoked", () =>
        organization.revokeInvitation({ caller: toProtoCaller(visit.caller), invitationId: invitationIdOf(request) }),
      ),
  };
}

function invitationIdOf(request: Request): string {
  const id = String(request.params.invitation_id);
  if (!isId("inv", id)) throw new ProblemError("page_not_found");
  return id;
}

/** Returns a refusal that the user can correct or wait for. Other errors are thrown as they are. */
function refusalOf(error: unknown, subject: string): string {
  if (!(error instanceof ServiceError)) throw error;
  if (error.code === "rate_limited" || error.code === "limit_exceeded") return error.message;
  if (error.code === "not_found") return "This invitation was already accepted or revoked.";
  if (error.code !== "invalid_request") throw error;
  const [detail] = error.details;
  if (detail?.path === "role") return "Choose one of the roles.";
  return detail ? `${subject} ${detail.message}.` : error.message;
}

function statusOf(error: unknown): number {
  const { code } = ServiceError.from(error);
  if (code === "not_found") return 404;
  return code === "rate_limited" ? 429 : 400;
}
