{{/* Refuses values that would make a release that cannot work, or that loses what it was given. */}}
{{- define "polyvox.check" -}}
{{- $given := merge (deepCopy .Values.secret.settings) .Values.settings -}}
{{- if and (include "polyvox.several" .) (eq .Values.voices.store "files") -}}
{{- fail "Several pods cannot share voices in SQLite on one volume: set replicas to 1 and autoscaling.kind to none, or set voices.store to shared (Postgres and S3) or none." -}}
{{- end -}}
{{- range $name, $value := fromYaml (include "polyvox.ownSettings" .) -}}
{{- if hasKey $given $name -}}
{{- fail (printf "The chart itself sets %s, here to %v, from voices, service, replicas and autoscaling: remove it from settings." $name $value) -}}
{{- end -}}
{{- end -}}
{{- $known := fromYaml (.Files.Get "setting-names.yaml") -}}
{{- range $name := keys $given | sortAlpha -}}
{{- if not (has $name $known.names) -}}
{{- fail (printf "%s is no setting of the server: docs/settings.md lists them, and `env` takes other variables." $name) -}}
{{- end -}}
{{- if and (has $name $known.secrets) (hasKey $.Values.settings $name) -}}
{{- fail (printf "%s is a secret: move it from settings to a Secret of yours (secret.existingName), or to secret.settings." $name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.secret.existingName .Values.secret.settings -}}
{{- fail "Set secret.existingName or secret.settings, not both: with an existing Secret the chart makes none." -}}
{{- end -}}
{{- if not (or .Values.secret.existingName (hasKey .Values.secret.settings "api_keys") .Values.settings.allowed_hosts .Values.settings.insecure) -}}
{{- fail "The server would not start, since anyone in the cluster could call it: set secret.existingName to a Secret with POLYVOX_API_KEYS, or settings.allowed_hosts to the names by which it is called, or settings.insecure to true." -}}
{{- end -}}
{{- include "polyvox.checkStore" (dict "values" .Values "given" $given) -}}
{{- if and (include "polyvox.several" .) .Values.settings.mcp (ne .Values.service.sessionAffinity "ClientIP") -}}
{{- fail "MCP sessions live in one pod: with several pods set service.sessionAffinity to ClientIP, or settings.mcp to false." -}}
{{- end -}}
{{- range $door := list "grpc" "wyoming" -}}
{{- if hasKey $given (printf "%s_port" $door) -}}
{{- fail (printf "A port that is no part of the Service is reached by nobody: remove %s_port from settings, and set service.%s.enabled and service.%s.port." $door $door $door) -}}
{{- end -}}
{{- end -}}
{{- if hasKey .Values.settings "ssl_certfile" -}}
{{- fail "Pods speak plain HTTP, also to Kubernetes' probes: remove ssl_certfile, and let the ingress end TLS (ingress.tlsSecret)." -}}
{{- end -}}
{{- include "polyvox.checkScaling" .Values -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "Set ingress.host to the name by which clients call the server." -}}
{{- end -}}
{{- if and .Values.serviceMonitor.authorization.secretName (not .Values.serviceMonitor.authorization.key) -}}
{{- fail "Set serviceMonitor.authorization.key to the entry of that Secret that holds one key." -}}
{{- end -}}
{{- if and .Values.models.pull .Values.networkPolicy.enabled (not (or .Values.networkPolicy.allowHttps .Values.networkPolicy.egress)) -}}
{{- fail "models.pull fetches models, which the network policy forbids: set networkPolicy.allowHttps to true, or name the hub's address in networkPolicy.egress." -}}
{{- end -}}
{{- end -}}

{{- define "polyvox.checkStore" -}}
{{- $named := or (hasKey .given "voice_database") (hasKey .given "voice_objects") -}}
{{- if and $named (ne .values.voices.store "shared") -}}
{{- fail "A database or a bucket for voices is named, but voices.store is not shared: set voices.store to shared." -}}
{{- end -}}
{{- if and (eq .values.voices.store "shared") (not .values.secret.existingName) -}}
{{- if not (and (hasKey .given "voice_database") (hasKey .given "voice_objects")) -}}
{{- fail "voices.store is shared, but no database or no bucket is named: put voice_database into secret.settings (or POLYVOX_VOICE_DATABASE into the Secret of secret.existingName) and voice_objects into settings." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "polyvox.checkScaling" -}}
{{- if and (eq .autoscaling.kind "keda") (not .autoscaling.prometheusAddress) -}}
{{- fail "KEDA asks Prometheus for the load: set autoscaling.prometheusAddress." -}}
{{- end -}}
{{- if and (ne .autoscaling.kind "none") (gt (int .autoscaling.minReplicas) (int .autoscaling.maxReplicas)) -}}
{{- fail "autoscaling.minReplicas is more than autoscaling.maxReplicas." -}}
{{- end -}}
{{- end -}}
