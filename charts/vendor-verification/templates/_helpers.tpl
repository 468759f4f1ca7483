{{- define "vv.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select all pods of the release. */}}
{{- define "vv.releaseLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels that select the pods of one part. Takes root and name. */}}
{{- define "vv.selector" -}}
{{ include "vv.releaseLabels" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/* The labels of every object. Takes root and name. */}}
{{- define "vv.labels" -}}
{{ include "vv.selector" . }}
app.kubernetes.io/part-of: vendor-verification
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Values as JSON, overridden key by key. Unlike with merge, 0, false and "" override too. Takes values and by. */}}
{{- define "vv.overridden" -}}
{{- $values := deepCopy .values -}}
{{- range $key, $value := .by -}}
{{- if and (kindIs "map" $value) (kindIs "map" (index $values $key)) -}}
{{- $value = include "vv.overridden" (dict "values" (index $values $key) "by" $value) | fromJson -}}
{{- end -}}
{{- $_ := set $values $key $value -}}
{{- end -}}
{{- toJson $values -}}
{{- end -}}

{{/* Each deployment as JSON: "fixed" from services.json, "values" from the configuration. */}}
{{- define "vv.services" -}}
{{- $services := dict -}}
{{- range $name, $fixed := include "vv.deployments" . | fromJson -}}
{{- $values := $.Values.defaults -}}
{{- range list $fixed.program $name | uniq -}}
{{- $values = include "vv.overridden" (dict "values" $values "by" (default dict (index $.Values.services .))) | fromJson -}}
{{- end -}}
{{- $stores := default list $fixed.stores -}}
{{- $tls := or (hasKey $fixed "rpcPort") (hasKey $fixed "calls") -}}
{{- $keda := and $values.keda.enabled (hasKey $fixed "consumes") -}}
{{- $_ := set $services $name (dict "fixed" $fixed "values" $values "stores" $stores "tls" $tls "keda" $keda "hpa" (and $values.autoscaling.enabled (not $keda))) -}}
{{- end -}}
{{- toJson $services -}}
{{- end -}}

{{/* A value of a variable. Helm would write large numbers as 1e+06. */}}
{{- define "vv.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{- define "vv.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else if .Values.image.allowTag -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- else -}}
{{- fail "Set image.digest to the digest of the image (sha256:…), which deploy/image/release.sh does in the packaged chart. A tag can be moved to another image; for trials set image.allowTag=true." -}}
{{- end -}}
{{- end -}}

{{- define "vv.secretName" -}}
{{- $own := printf "%s-secrets" (include "vv.fullname" .) -}}
{{- if .Values.secrets.existingSecret -}}
{{ .Values.secrets.existingSecret }}
{{- else if or .Values.secrets.generate .Values.secrets.externalSecret.enabled -}}
{{ $own }}
{{- else -}}
{{ fail "Set secrets.existingSecret to the Secret with addresses and key rings, or use secrets.externalSecret or, for trials, secrets.generate." }}
{{- end -}}
{{- end -}}

{{- define "vv.kafkaBrokers" -}}
{{- if .Values.devStores.enabled -}}
{{ include "vv.fullname" . }}-kafka:9092
{{- else -}}
{{ join "," (required "Set kafka.brokers to the addresses of Kafka's brokers." .Values.kafka.brokers) }}
{{- end -}}
{{- end -}}

{{/* JSON list of the Secret's keys that clients of these stores need as variables. Takes root and stores. */}}
{{- define "vv.storeSecrets" -}}
{{- $keys := list -}}
{{- if has "mongodb" .stores }}{{ $keys = append $keys "MONGODB_URI" }}{{ end -}}
{{- if has "redis" .stores }}{{ $keys = append $keys "REDIS_URL" }}{{ end -}}
{{- if and (has "kafka" .stores) .root.Values.kafka.sasl.mechanism (ne .root.Values.kafka.sasl.mechanism "oauthbearer") }}{{ $keys = append $keys "KAFKA_SASL_PASSWORD" }}{{ end -}}
{{- toJson $keys -}}
{{- end -}}

{{/* JSON list of the Secret's keys with certificates that clients of these stores need. Takes root and stores. */}}
{{- define "vv.storeFiles" -}}
{{- $keys := list -}}
{{- range $store := .stores -}}
{{- range $key := list "caSecretKey" "certSecretKey" "keySecretKey" -}}
{{- with index (index $.root.Values $store).tls $key }}{{ $keys = append $keys . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toJson $keys -}}
{{- end -}}

{{/* Variables, except secrets, that clients of these stores need. Takes root and stores. */}}
{{- define "vv.storeVariables" -}}
{{- $values := .root.Values -}}
{{- $kafka := $values.kafka -}}
{{- if has "mongodb" .stores }}
MONGODB_DATABASE_PREFIX: {{ $values.mongodb.databasePrefix | quote }}
MONGODB_MAX_POOL_SIZE: {{ $values.mongodb.maxPoolSize | quote }}
{{- end }}
{{- if has "kafka" .stores }}
KAFKA_BROKERS: {{ include "vv.kafkaBrokers" .root | quote }}
KAFKA_TOPIC_PREFIX: {{ $kafka.topicPrefix | quote }}
KAFKA_TLS: {{ $kafka.tls.enabled | quote }}
{{- with $kafka.sasl.mechanism }}
{{- if and (eq . "oauthbearer") (eq (empty $kafka.sasl.tokenPath) (empty $kafka.sasl.tokenCommand)) }}
{{- fail "With kafka.sasl.mechanism oauthbearer set either kafka.sasl.tokenPath or kafka.sasl.tokenCommand." }}
{{- end }}
KAFKA_SASL_MECHANISM: {{ . | quote }}
{{- end }}
{{- with $kafka.sasl.username }}
KAFKA_SASL_USERNAME: {{ . | quote }}
{{- end }}
{{- with $kafka.sasl.tokenPath }}
KAFKA_SASL_TOKEN_PATH: {{ . | quote }}
{{- end }}
{{- with $kafka.sasl.tokenCommand }}
KAFKA_SASL_TOKEN_COMMAND: {{ . | quote }}
{{- end }}
{{- end }}
{{- if has "redis" .stores }}
REDIS_KEY_PREFIX: {{ $values.redis.keyPrefix | quote }}
{{- with $values.redis.sentinels }}
REDIS_SENTINELS: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- range $store := .stores }}
{{- range $key, $part := dict "caSecretKey" "CA" "certSecretKey" "CERT" "keySecretKey" "KEY" }}
{{- with index (index $values $store).tls $key }}
{{ upper $store }}_TLS_{{ $part }}_FILE: /etc/vvs/secrets/{{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "vv.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "vv.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* DNS names of a service's certificate. Takes root and name. */}}
{{- define "vv.dnsNames" -}}
{{- $host := printf "%s-%s" (include "vv.fullname" .root) .name -}}
{{- $namespace := .root.Release.Namespace -}}
{{- list .name $host (printf "%s.%s" $host $namespace) (printf "%s.%s.svc" $host $namespace) (printf "%s.%s.svc.cluster.local" $host $namespace) | toJson -}}
{{- end -}}
