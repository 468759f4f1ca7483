{{/* Container of the migration. Takes root, name, command, variables and secrets. */}}
{{- define "vv.migrationContainer" -}}
- name: {{ .name }}
  image: {{ include "vv.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: [{{ .command }}]
  securityContext: {{- include "vv.containerSecurityContext" .root | nindent 4 }}
  env:
    {{- range $name, $value := .variables }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
    {{- include "vv.secretFileVariables" .secrets | nindent 4 }}
  resources: {{- toYaml .root.Values.migration.resources | nindent 4 }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    - name: secrets
      mountPath: /etc/vvs/secrets
      readOnly: true
{{- end -}}
