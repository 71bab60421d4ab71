import type { AuditRecorder } from '../../../platform/access/audit.ts';
import type { AuthMode } from '../../../platform/access/policy.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { LateReads } from '../../../platform/database/late-reads.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { HttpClient } from '../../../platform/http/http-client.ts';
import type { OutboundRule } from '../../../platform/http/safe-url.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { Tracer } from '../../../platform/tracing/span.ts';
import type { AnyModels } from '../generators/any-model/any-models.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { Breakers } from '../generators/breakers/breakers.ts';
import type { CredentialRefusals } from '../generators/credentials/refusals.ts';
import type { Machines } from '../generators/machines/machines.ts';
import type { Pauses } from '../generators/pauses/pauses.ts';
import type { WorkerSlots } from '../tasks/work/attempts/dependencies.ts';
import type { UploadQuotas } from '../uploads/quotas.ts';

/** What the media subgraph is built of. */
export interface MediaSubgraphOptions {
  /** Migrated: schema "media" (migrations/index.ts). */
  readonly database: Database;
  /** Where lists and totals are read (default: the database itself). */
  readonly lateReads?: LateReads | undefined;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly store: ObjectStore;
  readonly http: HttpClient;
  readonly outbound: OutboundRule;
  readonly registry: GeneratorRegistry;
  /** Of the registry's bindings. */
  readonly refusals: CredentialRefusals;
  /** Of the bindings of `registry` (default: none). */
  readonly breakers?: Breakers;
  /** Of the bindings of `registry` (default: nothing can be paused). */
  readonly bindingPauses?: Pauses;
  /** Of the bindings of `registry` (default: none can be closed). */
  readonly machines?: Machines;
  /** Of the bindings of `registry` (default: only the models of the catalog). */
  readonly anyModels?: AnyModels;
  readonly authMode: AuthMode;
  /** Absent: nothing is written down. */
  readonly audit?: AuditRecorder | undefined;
  readonly logger: Logger;
  /** Of this process (default: none). */
  readonly metrics?: Metrics;
  /** Of this process (default: nothing is traced). */
  readonly tracer?: Tracer;
  readonly version: string;
  readonly files: FileSettings;
  /** Most bytes of one upload. */
  readonly uploadMaxBytes: number;
  readonly uploadQuotas: UploadQuotas;
  /** Days an event log is kept after its task's end; 0 keeps it forever. */
  readonly eventRetentionDays: number;
  /** Days a task is kept after its end, with the files that it made; 0 (default) keeps it forever. */
  readonly taskRetentionDays?: number | undefined;
  /** Days that prompts and texts are kept after the end of their task; 0 (default) keeps them as long as it. */
  readonly promptRetentionDays?: number | undefined;
  /** Hours that work may wait for its start before it ends as failed (QUEUE_MAX_HOURS). */
  readonly queueMaxHours: number;
  /** What one worker does at once (default: see WorkerSlots). */
  readonly workerSlots?: Partial<WorkerSlots> | undefined;
  /** Signs result webhooks: `whsec_` and base64. */
  readonly webhookSecret: string;
}

interface FileSettings {
  /** Address that callers use, without a trailing slash. */
  readonly publicUrl: string;
  /** The same for processes of this machine, such as the sandbox's; PUBLIC_URL when absent. */
  readonly localUrl?: string;
  readonly cdnBaseUrl: string | null;
  /** Seconds that addresses stay valid; 0 forever. */
  readonly urlTtlSeconds: number;
  /** Program that decodes first images of videos for thumbnails (FFMPEG_PATH); none when absent. */
  readonly ffmpeg?: string | null;
  /** Signs expiring addresses; the same in every process and after a restart. */
  readonly secret: string;
  /** Days that files are kept; 0 forever. */
  readonly retentionDays: number;
  /** Days that uploads of callers without a credential are kept, unless work uses them; 0 forever. */
  readonly anonymousDays?: number;
  /** Most addresses of one caller to be passed on. */
  readonly shareLimit?: number;
  /** Whether whoever knows the id of nobody's file may delete it. */
  readonly anyoneDeletes?: boolean;
}
