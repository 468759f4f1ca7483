{{/* Egress rule to a store. Takes root and store. */}}
{{- define "vv.storeEgress" -}}
{{- $store := index .root.Values.networkPolicy .store -}}
{{- if .root.Values.devStores.enabled -}}
- ports:
    - port: {{ index (dict "mongodb" 27017 "kafka" 9092 "redis" 6379) .store }}
  to:
    - podSelector:
        matchLabels: {{- include "vv.selector" (dict "root" .root "name" .store) | nindent 10 }}
{{- else -}}
- ports:
    {{- range $store.ports }}
    - port: {{ . }}
    {{- end }}
  {{- with $store.peers }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* Egress rule to public addresses only. */}}
{{- define "vv.internetEgress" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: {{- toYaml .Values.networkPolicy.privateRanges | nindent 10 }}
    - ipBlock:
        cidr: 2000::/3
        except: {{- toYaml .Values.networkPolicy.privateRanges6 | nindent 10 }}
{{- end -}}
