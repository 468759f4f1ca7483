/** How long the documents of a collection are kept, and who deletes them. */
export type Kept =
  /** Nobody deletes them. */
  | "always"
  /**
   * MongoDB deletes them this many seconds after the date in the field of the expiry index; 0: at that date. `inSandbox` is
   * for what the sandbox keeps of them, or who deletes them there.
   */
  | { readonly seconds: number; readonly inSandbox?: number | string }
  /** The part of the service that deletes them when their work is done, or by their age. */
  | { readonly by: string };

const DAY = 86_400;
const UNTIL_ITS_DATE = { seconds: 0 };

/** What the outbox of each service that publishes needs. */
const outbox = {
  outbox: { by: "the outbox relay, once Kafka has confirmed them" },
  outbox_relays: { seconds: 3_600 },
  outbox_shards: "always",
} as const;

const leases = (name: string): Readonly<Record<string, Kept>> => ({
  [`${name}_relays`]: { seconds: 3_600 },
  [`${name}_shards`]: "always",
});

const idempotency = { idempotency_calls: { seconds: DAY } };

/** Each collection of each service's databases. What is kept always is promised, or bounded in number. */
export const kept: Readonly<Record<string, Readonly<Record<string, Kept>>>> = {
  account: {
    organizations: "always",
    users: "always",
    removed_members: "always",
    member_locks: "always",
    api_keys: "always",
    api_key_locks: "always",
    api_key_uses: "always",
    passkeys: "always",
    webhook_secrets: "always",
    sessions: UNTIL_ITS_DATE,
    passkey_challenges: UNTIL_ITS_DATE,
    second_steps: UNTIL_ITS_DATE,
    single_sign_ons: UNTIL_ITS_DATE,
    sign_ups: UNTIL_ITS_DATE,
    password_resets: UNTIL_ITS_DATE,
    sign_in_limits: UNTIL_ITS_DATE,
    invitations: { seconds: 30 * DAY },
    audit_log: { seconds: 2_557 * DAY },
    former_members: { seconds: 2_557 * DAY },
    usage: { seconds: 400 * DAY },
    usage_reports: { seconds: 2 * DAY },
    request_log: { seconds: 7 * DAY },
    request_allowances: { seconds: 7 * DAY },
    request_gaps: { seconds: 7 * DAY },
    notification_settings: { by: "the removal of the member" },
    pending_notifications: { by: "the removal of the member" },
    gathered_notifications: { seconds: 30 * DAY },
    mails: { by: "the mailer, once they are sent or given up" },
    mailbox: { seconds: 30 * DAY },
  },
  entity: {
    entities: "always",
    entity_counts: "always",
    entity_identifiers: "always",
    entity_snapshots: "always",
    exclusions: "always",
    excluded_names: "always",
    remembered_identifiers: "always",
    tin_fingerprint_keys: "always",
    tin_replacements: "always",
    tin_reveals: { seconds: 2_557 * DAY },
    identifier_guards: { seconds: DAY },
    registry_loads: "always",
    registry_locks: "always",
    registry_quarantine: "always",
    registry_changes: "always",
    registry_announcements: { by: "the publisher of registry changes, once they are in the outbox" },
    vendors: "always",
    vendor_monitors: "always",
    ...leases("registry_publisher"),
    ...idempotency,
    ...outbox,
  },
  verification: {
    verifications: { by: "the retention, when their expires_at has come and nothing names them" },
    jobs: { by: "the jobs, an hour after an intake that was never started, and 30 days after the end" },
    job_rows: { by: "the jobs, with their job" },
    job_starts: "always",
    latest_answers: { by: "the retention, before the verification of their answer" },
    evidence: { by: "the retention, with its verification" },
    evidence_bodies: { by: "the retention, with the last record that names them" },
    evidence_sweeps: "always",
    evidence_removals: { by: "the removal of objects, with their object" },
    provider_state: "always",
    sandbox_turns: "always",
    provider_attempts: { seconds: 400 * DAY },
    provider_calls: { seconds: 90 * DAY },
    organization_provider_calls: { seconds: 90 * DAY },
    public_answers: { seconds: 40 * DAY },
    sam_gov_asker: "always",
    sam_gov_days: { seconds: 90 * DAY },
    sam_gov_questions: { by: "the queue of SAM.gov, once they are answered" },
    sam_gov_watches: { seconds: 40 * DAY },
    sam_gov_watched: { by: "verification, once no active monitor watches the vendor" },
    parked_runs: { by: "the queue of SAM.gov, once they are verified or superseded" },
    tin_failures: { seconds: 30 * DAY },
    tin_guesses: UNTIL_ITS_DATE,
    audit_progress: "always",
    ...idempotency,
    ...outbox,
  },
  monitor: {
    monitors: "always",
    monitor_counts: "always",
    monitor_events: { seconds: 2_557 * DAY, inSandbox: "the sandbox retention" },
    event_positions: "always",
    event_waits: "always",
    schedule_turns: "always",
    sweep_positions: "always",
    // Those that have not ended. The others go with their verification.
    runs: { seconds: 400 * DAY },
    audit_entries: { by: "the audit reporter, once account has them" },
    notifications: { by: "the notification reporter, once account has them" },
    ...leases("audit_reporter"),
    ...leases("event_sequencer"),
    ...leases("notification_reporter"),
    ...leases("state_publisher"),
    ...leases("sweep"),
    ...idempotency,
    ...outbox,
  },
  change_detector: {
    baselines: "always",
    handled_verifications: { seconds: 31 * DAY, inSandbox: 14 * DAY },
    ...outbox,
  },
  webhook_dispatcher: {
    deliveries: { seconds: 90 * DAY, inSandbox: 31 * DAY },
    replays: { seconds: 90 * DAY },
    endpoints: { seconds: 90 * DAY },
    monitor_urls: "always",
    sandbox_hours: UNTIL_ITS_DATE,
  },
};
