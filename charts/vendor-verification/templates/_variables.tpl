{{/* All variables of a service except secrets. Takes root, name, service and services. */}}
{{- define "vv.variables" -}}
{{- $root := .root -}}
{{- $fixed := .service.fixed -}}
{{- $values := .service.values -}}
{{- $variables := include "vv.storeVariables" (dict "root" $root "stores" .service.stores) | fromYaml -}}
{{- $_ := set $variables "LOG_LEVEL" $values.logLevel -}}
{{- $_ := set $variables "ADMIN_HOST" "0.0.0.0" -}}
{{- $_ := set $variables "ADMIN_PORT" "9090" -}}
{{- $_ := set $variables "DRAIN_SECONDS" (toString $values.drainSeconds) -}}
{{- $_ := set $variables "FINISH_SECONDS" (toString $values.finishSeconds) -}}
{{- if $fixed.rpcPort -}}
{{- $_ := set $variables "RPC_HOST" "0.0.0.0" -}}
{{- $_ := set $variables "RPC_PORT" (toString $fixed.rpcPort) -}}
{{- end -}}
{{- if .service.tls -}}
{{- $_ := set $variables "RPC_TLS_CA_PATH" "/etc/vvs/rpc-tls/ca.crt" -}}
{{- $_ := set $variables "RPC_TLS_CERT_PATH" "/etc/vvs/rpc-tls/tls.crt" -}}
{{- $_ := set $variables "RPC_TLS_KEY_PATH" "/etc/vvs/rpc-tls/tls.key" -}}
{{- end -}}
{{- range $callee := $fixed.calls -}}
{{- $called := (index $.services $callee).fixed -}}
{{- $_ := set $variables $called.addressVariable (printf "%s-%s.%s.svc:%v" (include "vv.fullname" $root) $callee $root.Release.Namespace $called.rpcPort) -}}
{{- end -}}
{{- if $fixed.httpPort -}}
{{- $_ := set $variables "HTTP_HOST" "0.0.0.0" -}}
{{- $_ := set $variables "HTTP_PORT" (toString $fixed.httpPort) -}}
{{- $_ := set $variables "PUBLIC_BASE_URL" (required "Set publicBaseUrl to the URL at which clients reach the API." $root.Values.publicBaseUrl) -}}
{{- $_ := set $variables "TRUSTED_PROXY_HOPS" (toString (default 0 $root.Values.trustedProxyHops)) -}}
{{- end -}}
{{- if has $fixed.program (list "account" "dashboard") -}}
{{- $_ := set $variables "DASHBOARD_URL" (required "Set dashboardUrl to the URL at which browsers reach the dashboard." $root.Values.dashboardUrl) -}}
{{- end -}}
{{- range $key, $value := $fixed.variables -}}
{{- $_ := set $variables $key $value -}}
{{- end -}}
{{- if $root.Values.telemetry.otlp.endpoint -}}
{{- $otlp := $root.Values.telemetry.otlp -}}
{{- $_ := set $variables "OTEL_EXPORTER_OTLP_ENDPOINT" $otlp.endpoint -}}
{{- if $otlp.metrics -}}{{- $_ := set $variables "OTEL_METRICS_EXPORTER" "otlp" -}}{{- end -}}
{{- if $otlp.logs -}}{{- $_ := set $variables "OTEL_LOGS_EXPORTER" "otlp" -}}{{- end -}}
{{- with $otlp.sampler -}}{{- $_ := set $variables "OTEL_TRACES_SAMPLER" . -}}{{- end -}}
{{- if $otlp.sampler -}}{{- $_ := set $variables "OTEL_TRACES_SAMPLER_ARG" (toString $otlp.samplerArgument) -}}{{- end -}}
{{- end -}}
{{- range $key, $value := $values.env -}}
{{- $_ := set $variables $key (include "vv.text" $value) -}}
{{- end -}}
{{- if and $fixed.httpPort (or $root.Values.ingress.enabled $root.Values.httpRoute.enabled) (eq $variables.TRUSTED_PROXY_HOPS "0") -}}
{{- fail (printf "Set trustedProxyHops to the number of proxies in front of %s that add to X-Forwarded-For: 1 if only the ingress does, 2 if a load balancer in front of it does too. Without it all clients share the limits of one address." .name) -}}
{{- end -}}
{{- toYaml $variables -}}
{{- end -}}
