{{/* Values of a part that is no service, as JSON: "defaults", overridden key by key. Takes root and values. */}}
{{- define "vv.podValues" -}}
{{- include "vv.overridden" (dict "values" .root.Values.defaults "by" (default dict .values)) -}}
{{- end -}}

{{- define "vv.serviceAccountName" -}}
{{- .values.serviceAccount.name | default (printf "%s-%s" (include "vv.fullname" .root) .name) -}}
{{- end -}}

{{/*
Metadata and spec of a pod with one container of the image. All pods of the product are made here. Takes
  root, name     the part's name, which is also the container's
  values         the part's values, with those of "defaults"
  args           the program and its arguments
  stores         stores that it connects to: gives it their addresses, credentials and certificates
  secrets        further keys of the Secret
  configMap      ConfigMap with its variables; or
  variables      its variables, in addition to those of the stores and of values.env
  rpcTls         Secret with its certificate for gRPC
  init           arguments of each container that runs before it
  container, pod further fields of the container and of the pod
  mounts, volumes
  labels, annotations
*/}}
{{- define "vv.pod" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $stores := dict "root" $root "stores" (default list .stores) -}}
{{- $secrets := concat (include "vv.storeSecrets" $stores | fromJsonArray) (default list .secrets) $values.secretVariables | uniq -}}
{{- $files := concat $secrets (include "vv.storeFiles" $stores | fromJsonArray) | uniq -}}
metadata:
  labels:
    {{- include "vv.labels" (dict "root" $root "name" .name) | nindent 4 }}
    {{- with .labels }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- with $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with merge (dict) (default dict .annotations) (default dict $values.podAnnotations) }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "vv.serviceAccountName" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .pod }}{{ toYaml . | nindent 2 }}{{ end }}
  securityContext: {{- include "vv.podSecurityContext" $root | nindent 4 }}
  {{- if or .init $values.extraInitContainers }}
  initContainers:
    {{- with $values.extraInitContainers }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- range .init }}
    {{- include "vv.container" (dict "pod" $ "secrets" $secrets "files" $files "name" (first .) "args" .) | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    {{- include "vv.container" (dict "pod" . "secrets" $secrets "files" $files "name" .name "args" .args "more" .container) | nindent 4 }}
    {{- with $values.extraContainers }}{{ toYaml . | nindent 4 }}{{ end }}
  volumes:
    - name: tmp
      emptyDir:
        sizeLimit: 128Mi
    {{- if $files }}
    - name: secrets
      secret:
        {{- if $values.existingSecret }}
        secretName: {{ $values.existingSecret }}
        {{- else }}
        secretName: {{ include "vv.secretName" $root }}
        {{- end }}
        defaultMode: 0440
        items:
          {{- range $files }}
          - key: {{ . }}
            path: {{ . }}
          {{- end }}
    {{- end }}
    {{- with .rpcTls }}
    - name: rpc-tls
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- with .volumes }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- with $values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* A container of the image. Takes name, args, more (further fields), pod (what vv.pod takes), secrets and files. */}}
{{- define "vv.container" -}}
{{- $root := .pod.root -}}
{{- $values := .pod.values -}}
- name: {{ .name }}
  image: {{ include "vv.image" $root }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  args: {{- toYaml .args | nindent 4 }}
  securityContext: {{- include "vv.containerSecurityContext" $root | nindent 4 }}
  {{- with .pod.configMap }}
  envFrom:
    - configMapRef:
        name: {{ . }}
  {{- end }}
  env:
    - name: POD_NAME
      valueFrom:
        fieldRef:
          fieldPath: metadata.name
    - name: OTEL_RESOURCE_ATTRIBUTES
      value: service.version={{ $root.Chart.AppVersion }},service.instance.id=$(POD_NAME),k8s.pod.name=$(POD_NAME),k8s.namespace.name={{ $root.Release.Namespace }}{{ with $root.Values.telemetry.environment }},deployment.environment.name={{ . }}{{ end }}
    {{- if not .pod.configMap }}
    {{- $variables := include "vv.storeVariables" (dict "root" $root "stores" (default list .pod.stores)) | fromYaml }}
    {{- range list (default dict .pod.variables) $values.env }}
    {{- range $variable, $value := . }}{{ $_ := set $variables $variable $value }}{{ end }}
    {{- end }}
    {{- range $variable, $value := $variables }}
    - name: {{ $variable }}
      value: {{ include "vv.text" $value | quote }}
    {{- end }}
    {{- end }}
    {{- range .secrets }}
    - name: {{ . }}_FILE
      value: /etc/vvs/secrets/{{ . }}
    {{- end }}
    {{- with $values.extraEnv }}{{ toYaml . | nindent 4 }}{{ end }}
  resources: {{- toYaml $values.resources | nindent 4 }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    {{- if .files }}
    - name: secrets
      mountPath: /etc/vvs/secrets
      readOnly: true
    {{- end }}
    {{- if .pod.rpcTls }}
    - name: rpc-tls
      mountPath: /etc/vvs/rpc-tls
      readOnly: true
    {{- end }}
    {{- with .pod.mounts }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- with $values.extraVolumeMounts }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with .more }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end -}}
