/** What changed for users of the API: date and text, newest first. */
export const changes: readonly (readonly [date: string, text: string])[] = [
  [
    "2026-11-27",
    "A job has `file_rows`: `row` in the results of a list that was uploaded in the dashboard is the number of the row in the file. The command line took it for the place in the list: `verify FILE --job` with only the id of such a list gave vendors the results of their neighbors. Download such results from the dashboard.",
  ],
  [
    "2026-11-27",
    "Names agree less often, in jobs and in exact look-ups: `First Medical` is not `One Medical`, `Studio X` not `Studio 10`, `Miller AG LLC` not `Miller LLC`, `Disney+` not `Disney`. In jobs and lists the words must also be in the same order, except that a comma may turn them, as in `Austin, City of`.",
  ],
  [
    "2026-11-27",
    "The receipt of a job of more than some 1,300 vendors left out the others; it has all of them. A row that waits names its monitor, and the repeats of a row wait with it. Results are CSV also where the client accepts `text/csv` with a charset.",
  ],
  [
    "2026-11-27",
    "Results of a job have `doubts`: what a person must look at before a payment. A row with a name only is verified where its match is certain (confidence 0.95 or more), and is `ambiguous` otherwise. Rows that don’t check the registration now, such as those with `tin_match` only, are `pay` only if SAM.gov’s files show no exclusion of the vendor or of its name.",
  ],
  [
    "2026-11-27",
    "`GET /v1/monitors/{id}/runs` lists each run as long as its verification is kept, and the newest one of an active monitor always; it was 400 days.",
  ],
  [
    "2026-11-27",
    'The reason `not_configured`: the operator has no provider for the check. Each vendor of a job has at most 16 kB; a job that `on_invalid: "refuse"` refuses lists the problems of all its vendors.',
  ],
  [
    "2026-11-27",
    "A run that another answer of SAM.gov started has the cause `answer`; it was `file`. A look-up takes text that says that there is no identifier, such as `N/A`, as not given. A registry entity that one of yours took over is 404 in both verifications too; monitors of it go on.",
  ],
  [
    "2026-11-27",
    "Results of a job as CSV or NDJSON have the header `X-Job-Status`: unless it is `completed`, rows may be missing. A connection whose client takes nothing of an answer for 60 s is closed.",
  ],
  [
    "2026-11-27",
    "The command line’s `verify FILE --job` takes the whole value that was printed when the job was started. It ends with a digest of the vendors, so a file that was sorted or edited since is refused. The id alone still works, with a warning.",
  ],
  [
    "2026-11-26",
    "Jobs: `POST /v1/jobs` verifies up to 10,000 vendors in the background and says of each whether to pay. Results come in pages, as CSV or as NDJSON, and `/v1/jobs/:id/receipt` proves them.",
  ],
  [
    "2026-11-26",
    "The command line verifies a file as a job: it goes on if the program is stopped, `--job` continues it, and `--monitor` monitors its vendors. The results have other columns, such as `decision`. `--parallel` is gone, and numbers of vendors are no longer saved as the `external_id` of entities.",
  ],
  [
    "2026-11-26",
    "`details.same_name` of `sam_registration`: exclusions without a UEI and a CAGE that bear the vendor’s name. They change no status; `same_name_unknown` says that they could not be looked up. In the sandbox `SANDBXSAMEN2` has one.",
  ],
  [
    "2026-11-26",
    "This page explains each `reason` at `#reason-<reason>`, has samples in Python and Go, a search (`/`), and guides: going live, and keeping a copy of all events. `reason` lists its known values.",
  ],
  [
    "2026-11-26",
    "`GET /v1/openapi.yaml`: the OpenAPI document in YAML. `GET /docs/postman.json`: a Postman collection. The command line has `evidence`, `entities`, `providers`, `monitors get` and `monitors update`, and suggests the nearest command after a typing error.",
  ],
  [
    "2026-11-26",
    "`GET /v1/verifications/{id}/receipt`: a signed text that proves the results of a verification, and `GET /.well-known/jwks.json`, the public keys to check it with. `sources` of evidence have the `sha256` of each file.",
  ],
  [
    "2026-11-26",
    "The OpenAPI document is one that generators of clients take: identifiers are a list of {type, value} (the short form is accepted as before), answers are open to further fields and values, every property of a request has an example, and `servers` is the address of this service.",
  ],
  [
    "2026-11-26",
    "`sources` of evidence: where each part of an answer about a registration is from, with its date and the name of the file, also of older evidence.",
  ],
  [
    "2026-11-26",
    "Verifications are kept with their evidence for 7 years: of realtime calls, of first runs of monitors, and those that failed or led to a change. Others are kept for 400 days, those of the sandbox's monitors for 14. What a stored event, or the last run of a monitor, names stays as long as that does.",
  ],
  [
    "2026-11-25",
    "`details.tin` (masked) and `details.name` say what a `tin_match` was about. Monitors watch `tin_match.tin` and `tin_match.name`, so another TIN or name is in the event beside what followed; it was silent before.",
  ],
  [
    "2026-11-25",
    "The newest TIN that matched is remembered for a registry entity: one that does not match, or that a call without `tin_match` supplies, no longer replaces it. Names with HTML entities or a damaged encoding are repaired before the IRS is asked.",
  ],
  [
    "2026-11-25",
    "`effect` and `comment` of an exclusion in `details`: a `product` restriction fails nothing by itself. Monitors watch `sam_registration.exclusion_effect`. An exclusion that begins later starts a run of its monitors on its first day.",
  ],
  [
    "2026-11-25",
    "`max_age_seconds` of both verifications: how old the data of a stored answer may be in mode `cached`.",
  ],
  [
    "2026-11-25",
    "In an explanation only what lowers the confidence contradicts, and its weight is negative. Identifiers that agree come first.",
  ],
  [
    "2026-11-25",
    "`doc_url` in every error: the place on this page that explains it. `/` leads here, and so does `/docs/`.",
  ],
  [
    "2026-11-25",
    'Events have the fields of their webhooks, `event`, `entity_id` and `changes[].detected_at` among them. A test event has `"test": true` in its signed body. `?entity_id=` filters monitors. A cursor of events that are no longer kept is `cursor_expired`.',
  ],
  [
    "2026-11-25",
    "Creating and verifying refuse text that says that there is no identifier, such as `N/A`, placeholders of TINs, and sandbox UEIs with a live key. The message of a TIN with 7 or 8 digits hints at lost zeros.",
  ],
  ["2026-11-25", "A list of `identifiers` has at most 20 entries, and a body is nested at most 16 levels deep."],
  [
    "2026-11-25",
    "Registrations expire, and exclusions begin and end, at midnight in Washington (`America/New_York`), no longer at midnight UTC.",
  ],
  ["2026-11-23", "`GET /v1/events?after=now` begins with new events only, instead of reading past all older ones."],
  [
    "2026-11-23",
    "`external_id`, your own number of a vendor: in entities, monitors, lists, events and webhooks, set with `PUT /v1/entities/{id}/external_id`, and a filter of both lists.",
  ],
  ["2026-11-23", "This page, `GET /v1/openapi.json`, the TypeScript client and the command line."],
  ["2026-11-23", "The dashboard shows the requests of the last 7 days, also by `X-Request-Id`."],
  [
    "2026-11-23",
    "More refusals say what is wrong: the reasons of 401 have different messages, an id that cannot be read is the 404 of its resource, and requests that are not valid HTTP or do not arrive in time get our JSON.",
  ],
  ["2026-11-22", "`details` in results: what the verdict rests on."],
  ["2026-11-22", "`GET /v1/events` reads forward with `after` and `wait`. `webhook_url` of a monitor is optional."],
  ["2026-11-21", "First version."],
];
