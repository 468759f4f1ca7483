{{/*
services.json as JSON, with account's deployments as account.parts says. "program" is the service that a deployment runs, and
"variables" say which part of it.
*/}}
{{- define "vv.deployments" -}}
{{- $all := .Files.Get "services.json" | fromJson -}}
{{- range $name, $fixed := $all -}}
{{- $_ := set $fixed "program" $name -}}
{{- end -}}
{{- if ne .Values.account.parts "together" -}}
{{- $people := deepCopy $all.account -}}
{{- $_ := set $people "addressVariable" "ACCOUNT_PEOPLE_ADDRESS" -}}
{{- $_ := set $people "variables" (dict "ACCOUNT_PART" "people") -}}
{{- $_ := set $people "secrets" (without $people.secrets "API_KEY_PEPPERS") -}}
{{- $_ := set $all "account-people" $people -}}
{{- $_ := set $all.dashboard "calls" (append $all.dashboard.calls "account-people") -}}
{{- end -}}
{{- if eq .Values.account.parts "separate" -}}
{{- $_ := set $all.account "variables" (dict "ACCOUNT_PART" "keys") -}}
{{- $_ := set $all.account "internet" false -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}
