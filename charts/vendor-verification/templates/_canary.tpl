{{/* The host of the canary's receiver, as webhook-dispatcher reaches it. */}}
{{- define "vv.canaryHost" -}}
{{ include "vv.fullname" . }}-canary.{{ .Release.Namespace }}.svc
{{- end -}}
