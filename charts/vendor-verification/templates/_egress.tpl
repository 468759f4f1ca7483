{{/* Egress rule to the cluster's DNS, which every pod uses. */}}
{{- define "vv.dnsEgress" -}}
{{- $dns := .Values.networkPolicy.dns -}}
- to: {{- toYaml $dns.peers | nindent 4 }}
  ports:
    {{- range $dns.ports }}
    - {protocol: UDP, port: {{ . }}}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end -}}

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

{{/* Further egress rules of a part: for its cloud identity, and those of networkPolicy.extraEgress. Takes root, name, values and program. */}}
{{- define "vv.extraEgress" -}}
{{- with .values.cloudIdentity }}
{{- include (printf "vv.%sIdentityEgress" .) $ }}
{{- end }}
{{- $extra := .root.Values.networkPolicy.extraEgress -}}
{{- with default (index $extra (default .name .program)) (index $extra .name) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* EKS Pod Identity's agent. */}}
{{- define "vv.eksIdentityEgress" }}
- ports:
    - port: 80
  to:
    - ipBlock: {cidr: 169.254.170.23/32}
    - ipBlock: {cidr: "fd00:ec2::23/128"}
{{- end -}}

{{/* GKE's metadata server: with Dataplane V2 at its own address, else at the one to which nodes redirect it. */}}
{{- define "vv.gkeIdentityEgress" }}
- ports:
    - port: 80
  to:
    - ipBlock: {cidr: 169.254.169.254/32}
- ports:
    - port: 988
  to:
    - ipBlock: {cidr: 169.254.169.252/32}
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
