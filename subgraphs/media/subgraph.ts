import { onceThere } from '../../platform/database/once-there.ts';
import type { Subgraph } from '../../platform/graphql/operations/subgraph.ts';
import { noMetrics } from '../../platform/metrics/metrics.ts';
import { createBoards } from './boards/service.ts';
import { createBudgets } from './budgets/budgets.ts';
import { createChatHistory } from './chat/history/service.ts';
import { createChatService } from './chat/service.ts';
import { createSavedWorkflows } from './comfy-workflows/saved/service.ts';
import { measureWork, checkHealth } from './composition/health.ts';
import type { MediaSubgraphOptions } from './composition/options.ts';
import { createMediaWorker } from './composition/worker.ts';
import { lateMediaReads, mediaDatabase } from './database/database.ts';
import { createProviderResources } from './files/provider-resources.ts';
import { createFileHandler, createFileOpener, type FileHandler, type OpenFile } from './files/serve.ts';
import { createFileService } from './files/service.ts';
import { createPersonalData } from './personal-data/personal-data.ts';
import { createModelEnds } from './provider-health/model-ends.ts';
import { createProviderEvents } from './provider-health/provider-events.ts';
import { createProviderHealth } from './provider-health/provider-health.ts';
import { createUsualTimes } from './provider-health/usual-times.ts';
import {
  createProviderWebhookAddresses,
  createProviderWebhookHandler,
  type ProviderWebhookHandler,
} from './provider-webhooks/handler.ts';
import { createWakeUps } from './provider-webhooks/wake-ups.ts';
import { createStepPlanner } from './recipes/planner.ts';
import { SPEECH_GENERATOR } from './recipes/spoken-avatar.ts';
import { createResourceOwners } from './resource-ownership/owners.ts';
import { createMediaContext, mediaSchema } from './schema/index.ts';
import { createEstimates, expectedSteps } from './submissions/estimates.ts';
import { createSubmissionService } from './submissions/service.ts';
import { createUploads } from './synchronous/uploads.ts';
import { createVoices } from './synchronous/voices.ts';
import { createWorkObserver } from './tasks/accounting/work-observer.ts';
import { createBulkService } from './tasks/bulk/service.ts';
import { defineTaskQueues } from './tasks/rules/queues.ts';
import { createTaskService } from './tasks/rules/service.ts';
import { createRunningAttempts } from './tasks/running-attempts.ts';
import { createTransactor } from './tasks/storage/transactor.ts';
import { createInputFetcher } from './tasks/work/start/input-files.ts';
import type { TaskWorker } from './tasks/work/worker.ts';
import { createQuotaCounter } from './uploads/quotas.ts';
import { createUsageService } from './usage/service.ts';
import { createVideoTemplateService } from './video-templates/service.ts';
import { createWebhookEndpoints } from './webhooks/endpoints.ts';
import { createWebhookEndListener } from './webhooks/enqueue.ts';
import { createEventPublisher } from './webhooks/event-publisher.ts';
import { createWebhookService } from './webhooks/service.ts';

/** Tasks, files and video templates behind one schema, and the worker that does the tasks. */
export interface MediaSubgraph {
  readonly subgraph: Subgraph;
  /** Serves GET and HEAD of /files/{id}/{name}. */
  readonly handleFile: FileHandler;
  /** Opens a file by the path and query of its address. */
  readonly openFile: OpenFile;
  /** Serves POST of /hooks/{provider}: webhooks of upstreams. */
  readonly handleProviderWebhook: ProviderWebhookHandler;
  /** Does the work of tasks; not started by `start`, as it may run in processes of its own. */
  readonly worker: TaskWorker;
  /** How many subscriptions to tasks' events are open. */
  watcherCount(): number;
  /** Declares the queues and imports the bundled video templates; before anything is submitted. */
  start(): Promise<void>;
  /** Begins no chat any more, and waits for those that run here, which nobody else can take up, at most so long. */
  finishChats(graceSeconds: number): Promise<void>;
  /** Ends every subscription and every chat. The worker has its own `stop`; what was passed in is not closed. */
  close(): Promise<void>;
}

/** Tells operators which generators are not available, and the settings that they lack: callers are not told. */
function logMissing({ registry, logger }: MediaSubgraphOptions): void {
  const missing = registry.missing();
  if (Object.keys(missing).length > 0)
    logger.info({ missing }, 'generators without a provider: settings to set');
}

function closeWatches({
  refusals,
  breakers,
  bindingPauses,
  machines,
  anyModels,
}: MediaSubgraphOptions): void {
  bindingPauses?.close();
  machines?.stop();
  anyModels?.close();
  refusals.close();
  breakers?.close();
}

/** What the services and the worker share. */
function sharedParts(options: MediaSubgraphOptions) {
  const { queue, registry, metrics = noMetrics } = options;
  const database = mediaDatabase(options.database);
  const readLate = lateMediaReads(database, options.lateReads);
  measureWork(database, metrics, options.registry);
  const files = createFileService({ ...options, ...options.files, database });
  const planner = createStepPlanner(registry);
  const publisher = createEventPublisher(options);
  const transactor = createTransactor({ ...options, database });
  options.breakers?.onChange(createProviderEvents({ ...options, transactor, publish: publisher.publish }));
  const budgets = createBudgets({
    ...options,
    publish: publisher.publish,
    database,
    currency: registry.all().find(({ prices }) => prices)?.prices?.currency ?? null,
    expectedParts: (work) => expectedSteps({ registry, planner }, work),
  });
  return {
    ...options,
    options,
    database,
    readLate,
    files,
    quotas: createQuotaCounter({ database, quotas: options.uploadQuotas }),
    planner,
    budgets,
    startGate: budgets.startGate,
    budgetGate: budgets.gate,
    budgetWarnings: budgets.warnings,
    publisher,
    transactor,
    endListener: createWebhookEndListener(queue, publisher),
    observer: createWorkObserver({ ...options, metrics }),
  };
}

function createServices(parts: ReturnType<typeof sharedParts>) {
  const { database, readLate, registry, authMode, files, planner, budgets } = parts;
  const resources = createProviderResources(database);
  const tasks = createTaskService(parts);
  const videoTemplates = createVideoTemplateService(database, parts.bus);
  const owners = createResourceOwners(database);
  const voices = createVoices({ registry, owners, authMode });
  const savedWorkflows = createSavedWorkflows(parts);
  const firstVoice = (): Promise<string> => voices.first(SPEECH_GENERATOR);
  return {
    tasks,
    bulk: createBulkService(parts),
    files,
    submissions: createSubmissionService({
      ...parts,
      tasks,
      resources,
      videoTemplates,
      firstVoice,
      owners,
      savedWorkflows,
      fetchInput: createInputFetcher(parts),
    }),
    usage: createUsageService({ database, readLate, authMode }),
    boards: createBoards({ database, ...parts.options.files }),
    budgets: budgets.service,
    estimates: createEstimates({ registry, planner, videoTemplates }),
    videoTemplates,
    registry,
    voices,
    chat: createChatService(parts),
    chatHistory: createChatHistory(parts),
    uploads: createUploads({ ...parts, resources }),
    webhooks: createWebhookService(parts),
    webhookEndpoints: createWebhookEndpoints(parts),
    health: () => checkHealth(parts.options),
    providerHealth: createProviderHealth(parts),
    usualTimes: createUsualTimes(parts),
    machines: parts.machines ?? null,
    personalData: createPersonalData(database),
    savedWorkflows,
  };
}

/** Builds the media subgraph; nothing runs yet. */
export function createMediaSubgraph(options: MediaSubgraphOptions): MediaSubgraph {
  const { authMode, store, files: fileSettings } = options;
  const parts = sharedParts(options);
  const { files, budgets, publisher } = parts;
  const services = createServices(parts);
  const { tasks, chat, videoTemplates } = services;
  const modelEnds = createModelEnds({ ...parts, publish: publisher.publish });
  const attempts = createRunningAttempts(parts);
  const addresses = createProviderWebhookAddresses(fileSettings);
  const wakeUps = createWakeUps({ ...options, makeDue: (key) => attempts.makeDue(key) });
  return {
    subgraph: {
      name: 'media',
      schema: mediaSchema,
      contextFor: (request) => createMediaContext({ request, authMode, audit: options.audit, services }),
    },
    handleFile: createFileHandler({ files, store, ...fileSettings }),
    openFile: createFileOpener({ files, store }),
    handleProviderWebhook: createProviderWebhookHandler({ ...parts, attempts, addresses, wakeUps }),
    worker: createMediaWorker({ ...parts, tasks, fileSettings, webhookAddress: addresses.addressFor }),
    watcherCount: () => tasks.watcherCount(),
    async start() {
      await onceThere(async () => options.bindingPauses?.load(), options);
      await onceThere(async () => options.machines?.load(), options);
      await onceThere(async () => options.anyModels?.load(), options);
      await defineTaskQueues(parts);
      await onceThere(() => videoTemplates.importBundled(), options);
      logMissing(options);
      modelEnds.start();
    },
    finishChats: (graceSeconds) => chat.finish(graceSeconds),
    async close() {
      closeWatches(options);
      modelEnds.close();
      budgets.close();
      publisher.close();
      tasks.close();
      await chat.close();
      await wakeUps.close();
    },
  };
}
