{{/* Names, labels and what the pods of all roles have in common. */}}

{{- define "kiln.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "kiln.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a role: (dict "root" $ "role" "media"). */}}
{{- define "kiln.selector" -}}
app.kubernetes.io/name: kiln
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "kiln.labels" -}}
{{ include "kiln.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* A value as text: whole numbers not as 1.048576e+08. */}}
{{- define "kiln.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ toString . }}{{ end -}}
{{- end -}}

{{/* The environment: settings that are set, those out of secrets, and what the chart knows. Written into each pod, so that a
     change rolls them, and the migration job has it before anything else of the release is there. */}}
{{- define "kiln.environment" -}}
{{- if not .Values.settings.PUBLIC_URL }}{{ fail "settings.PUBLIC_URL must be set: the address that callers use" }}{{ end }}
{{- if not (or .Values.secrets .Values.secretKeys) }}{{ fail "secrets must name at least one Kubernetes secret, with DATABASE_URL and INTERNAL_KEY" }}{{ end }}
env:
  - { name: HOST, value: 0.0.0.0 }
  # Nothing is kept there: files are in the bucket, secrets are made of INTERNAL_KEY.
  - { name: DATA_DIR, value: /tmp/kiln }
  - { name: METRICS_PORT, value: {{ .Values.metrics.port | quote }} }
  - { name: MEDIA_URL, value: {{ printf "http://%s-media:4001/graphql" (include "kiln.name" .) }} }
  - { name: WORKFLOW_URL, value: {{ printf "http://%s-workflow:4002/graphql" (include "kiln.name" .) }} }
  {{- range $name, $value := .Values.settings }}
  {{- if ne (toString $value) "" }}
  - { name: {{ $name }}, value: {{ include "kiln.text" $value | quote }} }
  {{- end }}
  {{- end }}
  {{- range $name, $from := .Values.secretKeys }}
  - { name: {{ $name }}, valueFrom: { secretKeyRef: { name: {{ $from.name }}, key: {{ $from.key }} } } }
  {{- end }}
{{- with .Values.secrets }}
envFrom:
  {{- range . }}
  - secretRef: { name: {{ . }} }
  {{- end }}
{{- end }}
{{- end -}}

{{- define "kiln.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{- define "kiln.mounts" -}}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if or .Values.files.secret .Values.files.configMap }}
  - { name: files, mountPath: /etc/kiln, readOnly: true }
  {{- end }}
{{- end -}}

{{/* What belongs to a pod of any role. */}}
{{- define "kiln.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
# The user `node` of the image.
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: tmp
    emptyDir: {}
  {{- with .Values.files.secret }}
  - name: files
    secret: { secretName: {{ . }} }
  {{- end }}
  {{- with .Values.files.configMap }}
  - name: files
    configMap: { name: {{ . }} }
  {{- end }}
{{- end -}}

{{/* Where pods of a role go: apart from each other if there is room. (dict "root" $ "role" "media" "values" .Values.media) */}}
{{- define "kiln.placement" -}}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "kiln.selector" $ | nindent 8 }}
  {{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "kiln.podMetadata" -}}
labels:
  {{- include "kiln.labels" . | nindent 2 }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Probes of a role with a port called http. A process that waits for its database or a subgraph lives: only /readyz asks them. */}}
{{- define "kiln.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  timeoutSeconds: 5
  # A start may wait for the migrations of another one.
  failureThreshold: 150
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{/* Seconds before SIGKILL: all that a role may take to stop by its settings (or their defaults, where they are emptied), and 30 more.
     (dict "root" $ "role" "media" "values" .Values.media) */}}
{{- define "kiln.grace" -}}
{{- $settings := .root.Values.settings -}}
{{- $works := ternary (int (default 300 $settings.WORKER_GRACE_SECONDS)) 0 (has .role (list "media" "worker")) -}}
{{- add (int .values.preStopSeconds) $works (int (default 5 $settings.DRAIN_SECONDS)) (int (default 10 $settings.STOP_GRACE_SECONDS)) 30 -}}
{{- end -}}

{{/* Waits before SIGTERM, so that nobody sends here what would find the door closed. */}}
{{- define "kiln.preStop" -}}
lifecycle:
  preStop:
    exec: { command: [sleep, {{ . | quote }}] }
{{- end -}}
