import DataLoader from 'dataloader';

import type { AuditRecorder } from '../../../platform/access/audit.ts';
import type { Caller } from '../../../platform/access/caller.ts';
import type { AuthMode } from '../../../platform/access/policy.ts';
import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';
import type { BoardService } from '../boards/boards.ts';
import type { BudgetService } from '../budgets/service.ts';
import type { ChatService } from '../chat/chat.ts';
import type { ChatHistory } from '../chat/history/history.ts';
import type { SavedWorkflows } from '../comfy-workflows/saved/workflow.ts';
import type { Attempt } from '../domain/attempt.ts';
import type { FileService, StoredFile } from '../files/files.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { Machines } from '../generators/machines/machines.ts';
import type { PersonalData } from '../personal-data/personal-data.ts';
import type { ProviderHealthService } from '../provider-health/provider-health.ts';
import type { UsualTimes } from '../provider-health/usual-times.ts';
import type { Estimates } from '../submissions/estimates.ts';
import type { SubmissionService } from '../submissions/submissions.ts';
import type { Uploads } from '../synchronous/uploads.ts';
import type { Voices } from '../synchronous/voices.ts';
import type { BulkService } from '../tasks/bulk/bulk.ts';
import type { ReadTask, TaskService } from '../tasks/rules/task-service.ts';
import type { UsageService } from '../usage/usage.ts';
import type { VideoTemplate, VideoTemplateService } from '../video-templates/video-template.ts';
import type { WebhookEndpointService } from '../webhooks/endpoints.ts';
import type { WebhookService } from '../webhooks/service.ts';

/** What the media schema's resolvers call; everything else about media is behind these. */
export interface MediaServices {
  readonly tasks: TaskService;
  readonly bulk: BulkService;
  readonly files: FileService;
  readonly boards: BoardService;
  readonly submissions: SubmissionService;
  readonly estimates: Estimates;
  readonly usage: UsageService;
  readonly budgets: BudgetService;
  readonly videoTemplates: VideoTemplateService;
  readonly registry: GeneratorRegistry;
  readonly voices: Voices;
  readonly chat: ChatService;
  readonly chatHistory: ChatHistory;
  readonly uploads: Uploads;
  readonly webhooks: WebhookService;
  readonly webhookEndpoints: WebhookEndpointService;
  readonly health: () => Promise<MediaHealth>;
  readonly providerHealth: ProviderHealthService;
  readonly usualTimes: UsualTimes;
  /** Null: no machine can be closed here. */
  readonly machines: Machines | null;
  readonly personalData: PersonalData;
  readonly savedWorkflows: SavedWorkflows;
}

/** Whether the service works, and which part does not. */
export interface MediaHealth {
  readonly service: string;
  readonly version: string;
  readonly time: Date;
  /** Part -> "ok" or what is wrong, in words without secrets. */
  readonly checks: Readonly<Record<string, string>>;
  readonly generators: readonly GeneratorHealth[];
}

/** Whether a generator does work here. */
export interface GeneratorHealth {
  readonly generator: string;
  readonly state: 'ok' | 'sandbox' | 'degraded' | 'not available';
  /** Settings that would make it available; null when it is. */
  readonly setting: string | null;
  /** What is wrong with it, in words without secrets; null when nothing is known. */
  readonly problem: string | null;
}

/** What each resolver gets: made anew for every request, so that nothing cached outlives it. */
export interface MediaContext {
  readonly caller: Caller;
  readonly authMode: AuthMode;
  readonly audit: AuditRecorder | undefined;
  readonly signal: AbortSignal;
  readonly services: MediaServices;
  readonly loaders: MediaLoaders;
}

/** The context of one request. */
export function createMediaContext(options: {
  readonly request: RequestContext;
  readonly authMode: AuthMode;
  readonly audit?: AuditRecorder | undefined;
  readonly services: MediaServices;
}): MediaContext {
  const { request, authMode, audit, services } = options;
  const { caller, signal } = request;
  return { caller, authMode, audit, signal, services, loaders: createLoaders(services, caller) };
}

// Each batch is bounded, so that a long list can't turn into one statement of any size.
const maxBatchSize = 500;

type MediaLoaders = ReturnType<typeof createLoaders>;

/** Reads that many fields of one request share. */
function createLoaders({ tasks, files, boards, videoTemplates }: MediaServices, caller: Caller) {
  const loaders = {
    /** The tasks this caller may read, whole. */
    tasks: batched<ReadTask | null>((ids) => tasks.readMany(caller, ids)),
    media: batched<StoredFile | null>((ids) => files.byIds(ids)),
    /** Whether the caller has starred a file. */
    stars: batched<boolean>((ids) => boards.starred(caller, ids)),
    attempts: batched<readonly Attempt[]>(async (ids) => {
      const found = await tasks.attempts(ids);
      return ids.map((id) => found.get(id) ?? []);
    }),
    videoTemplates: batched<VideoTemplate | null>((ids) => videoTemplates.byIds(ids)),
  };
  /** Forgets what was read; a subscription calls it for each event, as one context serves them all. */
  const forget = (): void => {
    for (const loader of Object.values(loaders)) loader.clearAll();
  };
  return { ...loaders, forget };
}

function batched<Value>(read: (keys: readonly string[]) => Promise<readonly Value[]>) {
  return new DataLoader<string, Value>(read, { maxBatchSize });
}
