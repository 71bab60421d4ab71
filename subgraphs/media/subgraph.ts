import type { AuthMode } from '../../platform/access/policy.ts';
import type { Database } from '../../platform/database/database.ts';
import { toError } from '../../platform/errors.ts';
import type { EventBus } from '../../platform/events/event-bus.ts';
import type { Subgraph } from '../../platform/graphql/operations/subgraph.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import type { OutboundRule } from '../../platform/http/safe-url.ts';
import type { ObjectStore } from '../../platform/object-store/object-store.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Queue } from '../../platform/queue/queue.ts';
import type { ChatService } from './chat/chat.ts';
import { createChatService } from './chat/service.ts';
import type { MediaDatabase, MediaTables } from './database/database.ts';
import type { FileTables } from './database/file-tables.ts';
import type { FileDoor, FileService } from './files/files.ts';
import { createInputAddress } from './files/input-addresses.ts';
import { createProviderResources } from './files/provider-resources.ts';
import { createFileHandler, type FileHandler } from './files/serve.ts';
import { createFileService } from './files/service.ts';
import type { GeneratorRegistry } from './generators/bindings/binding.ts';
import { createNoticeAddresses, type NoticeAddresses } from './provider-webhooks/addresses.ts';
import { createNoticeHandler, type NoticeHandler } from './provider-webhooks/handler.ts';
import { createHints, type Hints } from './provider-webhooks/wake-ups.ts';
import { createUploads } from './questions/uploads.ts';
import { createVoices } from './questions/voices.ts';
import { SPEECH_GENERATOR } from './recipes/spoken-avatar.ts';
import { createMediaContext, mediaSchema, type MediaHealth, type MediaServices } from './schema/index.ts';
import { createSubmissionService } from './submissions/service.ts';
import { defineTaskQueues } from './tasks/rules/queues.ts';
import { createTaskService, type RunningTaskService } from './tasks/rules/service.ts';
import { createTaskWorker, type TaskWorker } from './tasks/work/worker.ts';
import { createVideoTemplateService } from './video-templates/service.ts';
import { createWebhookService } from './webhooks/service.ts';
import { createWebhookWorker } from './webhooks/worker.ts';

export interface MediaSubgraphOptions {
  /** Migrated: schema "media" (migrations/index.ts). */
  readonly database: Database;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly store: ObjectStore;
  readonly http: HttpClient;
  readonly outbound: OutboundRule;
  readonly registry: GeneratorRegistry;
  readonly authMode: AuthMode;
  readonly logger: Logger;
  readonly version: string;
  readonly files: FileSettings;
  /** Most bytes of one upload. */
  readonly uploadMaxBytes: number;
  /** Days an event log is kept after its task's end; 0 keeps for ever. */
  readonly eventRetentionDays: number;
  /** Signs result webhooks: `whsec_` and base64. */
  readonly webhookSecret: string;
}

interface FileSettings {
  /** Address that callers use, without a trailing slash. */
  readonly publicUrl: string;
  /** The same for processes of this machine, such as the sandbox's; PUBLIC_URL when absent. */
  readonly localUrl?: string;
  readonly cdnBaseUrl: string | null;
  /** Seconds that addresses stay valid; 0 for ever. */
  readonly urlTtlSeconds: number;
  /** Signs expiring addresses; the same in every process and after a restart. */
  readonly secret: string;
  /** Days that files are kept; 0 for ever. */
  readonly retentionDays: number;
}

/** Tasks, files and video templates behind one schema, and the worker that does the tasks. */
export interface MediaSubgraph {
  readonly subgraph: Subgraph;
  /** Serves GET and HEAD of /files/{id}/{name}. */
  readonly handleFile: FileHandler;
  /** Serves POST of /hooks/{provider}: notices of upstreams. */
  readonly handleNotice: NoticeHandler;
  /** Does the work of tasks; not started by `start`, as it may run in processes of its own. */
  readonly worker: TaskWorker;
  /** How many watch a task's events right now. */
  watcherCount(): number;
  /** Declares the queues and imports the bundled video templates; before anything is submitted. */
  start(): Promise<void>;
  /** Ends every watcher and every chat. The worker is stopped by its own `stop`; what was handed in stays its owner's to close. */
  close(): Promise<void>;
}

/** Builds the media subgraph; nothing runs yet. */
export function createMediaSubgraph(options: MediaSubgraphOptions): MediaSubgraph {
  const { queue, registry, authMode, store } = options;
  const database = options.database.typed<MediaTables>();
  const files = filesOf(options);
  const tasks = createTaskService({ ...options, database, files });
  const resources = createProviderResources(options.database.typed<FileTables>());
  const videoTemplates = createVideoTemplateService(database);
  const voices = createVoices(registry);
  const firstVoice = (): Promise<string> => voices.first(SPEECH_GENERATOR);
  const submissions = createSubmissionService({
    ...options,
    tasks,
    files,
    resources,
    videoTemplates,
    firstVoice,
  });
  const health = () => healthOf(options);
  const chat = createChatService({ ...options, database, files });
  const uploads = createUploads({ ...options, database: options.database.typed<never>(), files, resources });
  const webhooks = createWebhookService({ ...options, database });
  const addresses = createNoticeAddresses(options.files);
  const hints = createHints({ ...options, database });
  const services: MediaServices = {
    tasks,
    files,
    submissions,
    videoTemplates,
    registry,
    voices,
    chat,
    uploads,
    webhooks,
    health,
  };
  return {
    subgraph: {
      name: 'media',
      schema: mediaSchema,
      contextFor: (request) => createMediaContext({ request, authMode, services }),
    },
    handleFile: createFileHandler({ files, store, urlTtl: options.files.urlTtlSeconds }),
    handleNotice: createNoticeHandler({ ...options, database, addresses, hints }),
    worker: workerOf(options, { database, files, addresses }),
    async start() {
      await defineTaskQueues(queue, registry);
      await videoTemplates.importBundled();
    },
    ...endOf(tasks, chat, hints),
  };
}

interface WorkerParts {
  readonly database: MediaDatabase;
  readonly files: FileService & FileDoor;
  readonly addresses: NoticeAddresses;
}

/** The worker of tasks, and that of their webhooks beside it. */
function workerOf(options: MediaSubgraphOptions, { database, files, addresses }: WorkerParts): TaskWorker {
  const { publicUrl, localUrl = publicUrl } = options.files;
  const tasks = createTaskWorker({
    ...options,
    database,
    files,
    noticeAddress: addresses.addressFor,
    inputAddress: createInputAddress({ files, store: options.store, publicUrl, localUrl }),
  });
  const webhooks = createWebhookWorker({ ...options, database, files, secret: options.webhookSecret });
  return {
    async start() {
      await tasks.start();
      await webhooks.start();
    },
    async stop(graceSeconds) {
      await Promise.all([tasks.stop(graceSeconds), webhooks.stop(graceSeconds)]);
    },
  };
}

function endOf(tasks: RunningTaskService, chat: ChatService, hints: Hints) {
  return {
    watcherCount: () => tasks.watcherCount(),
    async close() {
      tasks.close();
      await chat.close();
      await hints.close();
    },
  };
}

function filesOf(options: MediaSubgraphOptions): FileService & FileDoor {
  const { store, logger } = options;
  const { publicUrl, cdnBaseUrl, urlTtlSeconds, secret, retentionDays } = options.files;
  return createFileService({
    database: options.database.typed<FileTables>(),
    store,
    publicUrl,
    cdnBaseUrl,
    urlTtl: urlTtlSeconds,
    secret,
    retentionDays,
    logger,
  });
}

async function healthOf({ database, store, logger, version }: MediaSubgraphOptions): Promise<MediaHealth> {
  const verdict = async (part: string, check: () => Promise<void>): Promise<string> => {
    try {
      await check();
      return 'ok';
    } catch (thrown) {
      logger.warn({ error: toError(thrown), part }, 'a health check failed');
      return 'unavailable';
    }
  };
  const [databaseVerdict, storeVerdict] = await Promise.all([
    verdict('database', () => database.check()),
    verdict('files', () => store.check()),
  ]);
  return {
    service: 'media',
    version,
    time: new Date(),
    checks: { database: databaseVerdict, files: storeVerdict },
  };
}
