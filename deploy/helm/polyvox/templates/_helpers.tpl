{{- define "polyvox.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "polyvox.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "polyvox.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "polyvox.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "polyvox.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default "cpu") -}}
{{- end -}}

{{/* A setting's value as the server reads it from the environment: lists with commas, numbers without an exponent. */}}
{{- define "polyvox.value" -}}
{{- if kindIs "slice" . -}}
{{- join "," . -}}
{{- else if and (kindIs "float64" .) (eq . (floor .)) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{- define "polyvox.secretName" -}}
{{- .Values.secret.existingName | default (include "polyvox.name" .) -}}
{{- end -}}

{{- define "polyvox.claimName" -}}
{{- .Values.voices.persistence.existingClaim | default (printf "%s-voices" (include "polyvox.name" .)) -}}
{{- end -}}

{{- define "polyvox.several" -}}
{{- if or (gt (int .Values.replicas) 1) (ne .Values.autoscaling.kind "none") -}}true{{- end -}}
{{- end -}}

{{/* Settings that the chart decides: where the pod's folders are, and what cannot work with these values. */}}
{{- define "polyvox.ownSettings" -}}
host: 0.0.0.0
port: 8880
data_dir: /data
models_dir: /models
{{- if .Values.service.grpc.enabled }}
grpc_port: {{ .Values.service.grpc.port }}
{{- end }}
{{- if .Values.service.wyoming.enabled }}
wyoming_host: 0.0.0.0
wyoming_port: {{ .Values.service.wyoming.port }}
wyoming_allow_without_key: true
{{- end }}
{{- if ne .Values.voices.store "files" }}
max_dictionaries: 0
max_jobs: 0
{{- end }}
{{- if eq .Values.voices.store "none" }}
max_voices: 0
{{- end }}
{{- if include "polyvox.several" . }}
max_downloads: 0
{{- end }}
{{- if or (include "polyvox.several" .) (eq .Values.voices.store "none") }}
max_fits: 0
{{- end }}
{{- end -}}

{{- define "polyvox.drainSeconds" -}}
{{- dig "drain_seconds" 30 .Values.settings -}}
{{- end -}}

{{/* From the removal of the pod to SIGTERM, the streams' time to finish, and what closing the engines takes. */}}
{{- define "polyvox.graceSeconds" -}}
{{- add (int .Values.preStopSeconds) (int (ceil (include "polyvox.drainSeconds" . | float64))) 15 -}}
{{- end -}}

{{- define "polyvox.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "polyvox.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
