/** A remembered TIN that another one replaced. */
export interface TinReplacementDocument {
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly previous_last4: string;
  readonly current_last4: string;
  /** It replaced the other one because it matched. */
  readonly matched: boolean;
  readonly actor: string;
  readonly request_id: string;
  readonly created_at: Date;
  /** Absent once it is in the audit log. */
  readonly unrecorded?: true;
}
