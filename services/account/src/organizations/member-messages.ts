import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { InvitationSchema } from "@vvs/proto/account/v1/invitations";
import type { MemberSchema } from "@vvs/proto/account/v1/members";
import type { SentInvitation } from "./invitations.ts";
import type { Member } from "./members.ts";

/** A member as members see each other. */
export function memberMessage({ user, hasSecondFactor, lastSeenAt }: Member): MessageInitShape<typeof MemberSchema> {
  return {
    userId: user._id,
    email: user.email,
    role: user.role,
    joinedAt: timestampFromDate(user.created_at),
    hasSecondFactor: hasSecondFactor ?? false,
    lastSeenAt: lastSeenAt && timestampFromDate(lastSeenAt),
  };
}

/** An invitation as owners see it. */
export function invitationMessage(sent: SentInvitation): MessageInitShape<typeof InvitationSchema> {
  const { _id: id, email, role, sent_at, expires_at } = sent.invitation;
  const [sentAt, expiresAt] = [timestampFromDate(sent_at), timestampFromDate(expires_at)];
  return { id, email, role, sentAt, expiresAt, invitedByEmail: sent.invitedByEmail };
}
