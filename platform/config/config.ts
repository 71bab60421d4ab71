import path from 'node:path';

import {
  checkCombinations,
  isLoopback,
  type SettingsContext,
  isAllEmbedded,
  spendingSettings,
} from './combinations.ts';
import { readCommandLine } from './command-line.ts';
import { readPaymentSettings } from './payments.ts';
import { readProviders } from './providers.ts';
import { readSettings, type SettingLine } from './settings/setting.ts';
import { settings } from './settings/settings.ts';
import { readSignInSettings } from './sign-in.ts';
import { readStorageSettings } from './storage.ts';
import { readGeneratorsFile, readTextFile } from './text-file.ts';
import { readTracingSettings } from './tracing.ts';
import { readWorkflowNames } from './workflow-names.ts';

/** The configuration of one process. A section is null when its feature is not configured. */
export type Config = ReturnType<typeof readConfig>;

/** All problems of the settings at once, each with its remedy. The caller prints it and exits with 1. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ setting, message }) => `  ${setting} ${message}`);
    super(`Kiln can't start with these settings:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A wrong setting, and what would be right. */
export interface ConfigProblem {
  readonly setting: string;
  readonly message: string;
}

/** Ports by role. */
const PORTS = { all: 4000, gateway: 4000, media: 4001, workflow: 4002, worker: 4003 };

/** Reads the environment and the command line. Throws ConfigError with every problem found. */
export function readConfig(
  environment: NodeJS.ProcessEnv = process.env,
  commandLineWords: readonly string[] = [],
) {
  const problems: ConfigProblem[] = [];
  const report = (name: string, message: string) => void problems.push({ setting: name, message });
  const commandLine = readCommandLine(commandLineWords, report);
  const values = readSettings(
    settings,
    { ...environment, ROLE: commandLine.role ?? environment['ROLE'] },
    report,
  );
  const production = values.KILN_ENV === 'production' || environment['NODE_ENV'] === 'production';
  const context: SettingsContext = { values, commandLine, role: values.ROLE, production };
  checkCombinations(context, report);
  const generatorsFile = readGeneratorsFile(absolute(values.GENERATORS_FILE), environment, report);
  const gatewayFile = readGeneratorsFile(absolute(commandLine.config), environment, report, '--config');
  const pricesFile = readTextFile('PRICES_FILE', absolute(values.PRICES_FILE), report);
  const catalogFile = readTextFile('CATALOG_FILE', absolute(values.CATALOG_FILE), report);
  const cellsFile = readTextFile('CELLS_FILE', absolute(values.CELLS_FILE), report);
  const workflowNames = readWorkflowNames(absolute(values.WORKFLOW_NAMES), report);
  const signIn = readSignInSettings(values, report);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    ...buildConfig(context),
    signIn,
    /** Which of several cells this is; `file` names all of them, null where there is one. */
    cells: { own: values.CELL, file: cellsFile },
    /** `--config FILE`: settings of the gateway of another supergraph. */
    gatewayFile,
    providers: {
      ...readProviders(values),
      generatorsFile,
      catalogFile,
      catalogDate: values.CATALOG_DATE,
      /** Patterns of names. */
      anyModel: values.ANY_MODEL,
      pricesFile,
    },
    /** Names of workflows that other systems use. */
    workflowNames,
  };
}

/** Reads the file of `--config` as it is now; null without one. Throws ConfigError when it can't be read. */
export function readGatewayFileAgain(file: string | null) {
  const problems: ConfigProblem[] = [];
  const report = (setting: string, message: string) => void problems.push({ setting, message });
  const text = readGeneratorsFile(file, process.env, report, '--config');
  if (problems.length > 0) throw new ConfigError(problems);
  return text;
}

/** All settings with default and meaning, in order: the table of docs/settings.md and .env.example. */
export function settingsTable(): readonly SettingLine[] {
  return Object.entries(settings).map(([name, line]) => ({
    name,
    default: line.default || 'none',
    meaning: line.meaning,
  }));
}

/** The URL that callers use, once the port is known. A server on all addresses is called as localhost. */
export function toPublicUrl({ host, publicUrl }: Config['server'], port: number): string {
  if (publicUrl !== null) return publicUrl;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The addresses of a system of several processes. */
function readSplit({ values, commandLine }: SettingsContext) {
  return {
    /** Null: in process, or as the supergraph names it. */
    mediaUrls: values.MEDIA_URL,
    workflowUrls: values.WORKFLOW_URL,
    internalKey: values.INTERNAL_KEY,
    /** `--supergraph FILE` (absolute): the gateway serves this supergraph only. */
    supergraphFile: absolute(commandLine.supergraph),
    /** `--subgraphs FILE` (absolute): the same, composed at the start. */
    subgraphsFile: absolute(commandLine.subgraphs),
    /** Whether one of both is given: the graph is not Kiln's own. */
    isOtherGraph: commandLine.supergraph !== null || commandLine.subgraphs !== null,
    /** Names of subgraphs of that supergraph. */
    sharedReads: values.SHARED_READS,
  };
}

function countsInDatabase({ values, role }: SettingsContext): boolean {
  const isGateway = role === 'gateway' && values.DATABASE_URL !== null;
  return (values.RATE_COUNTS ?? (isGateway || values.PROCESSES > 1 ? 'database' : 'process')) === 'database';
}

function readAuth(context: SettingsContext) {
  const { values } = context;
  return {
    mode: values.REST_AUTH ?? 'open',
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    unpaidExecutions: values.UNPAID_EXECUTIONS ?? ((values.REST_AUTH ?? 'open') === 'open' ? 'open' : 'keys'),
    /** Whether the mode was set; otherwise it is open because everything is embedded. */
    isChosen: values.REST_AUTH !== null,
    /** Whether nothing real is connected, and only this machine reaches it. */
    isAllEmbedded: isAllEmbedded(context),
    /** Whether something real is connected that can be used up in somebody's name. */
    isReal: spendingSettings(values).length > 0,
    serviceKeys: values.SERVICE_KEYS,
    adminSubjects: values.ADMIN_SUBJECTS,
  };
}

/** OpenAI's API over our graph. */
function readOpenaiFace(values: SettingsContext['values']) {
  if (values.OPENAI_FACE === 'off') return null;
  const {
    OPENAI_FACE_PREFIX: prefix,
    OPENAI_MODEL_ALIASES: aliases,
    OPENAI_WAIT_SECONDS: waitSeconds,
    OPENAI_BATCH_CONCURRENCY: batchConcurrency,
    OPENAI_BATCH_FLEX: flex,
  } = values;
  return { prefix, aliases, waitSeconds, batchConcurrency, batchFlex: flex === 'on' };
}

function readData({ values }: SettingsContext) {
  return {
    /** Absolute. */
    dir: path.resolve(values.DATA_DIR),
    /** Null: the embedded PostgreSQL. */
    databaseUrl: values.DATABASE_URL,
    /** A standby for reads that may be late; null: there is none. */
    readUrl: values.DATABASE_READ_URL,
    /** Most milliseconds that such a read may lack. */
    readLateMs: values.DATABASE_READ_LATE * 1_000,
    /** Servers of NATS that carry wake-ups; null: PostgreSQL does. */
    eventsUrls: values.EVENTS_URL,
    poolSize: values.DATABASE_POOL,
    queryTimeoutMs: values.QUERY_TIMEOUT * 1_000,
    /** Whether the most frequent statements are prepared. */
    databasePrepares: values.DATABASE_PREPARE === 'on',
  };
}

function buildConfig(context: SettingsContext) {
  const { values, role, production } = context;
  return {
    /** No sandbox, no development key, errors masked. */
    production,
    /** Whether it is shown to anybody: KILN_ENV=demo. */
    demo: !production && values.KILN_ENV === 'demo',
    /** What this process runs: everything, or one part of a split system. */
    role,
    /** How many processes serve the port; above 1 they have a supervisor. */
    processes: values.PROCESSES,
    server: readServer(context),
    data: readData(context),
    split: readSplit(context),
    auth: readAuth(context),
    stopping: readStopping(context),
    limits: {
      rate: values.RATE_LIMIT,
      /** Redis that counts for all gateways; null: PostgreSQL or each by itself. */
      countsUrl: values.COUNTS_URL,
      /** Whether requests are counted in the database, together with other processes. */
      countsInDatabase: countsInDatabase(context),
      /** The first entry that names a caller holds. */
      callerRates: values.RATE_LIMIT_CALLERS,
      /** Per address and caller; 0: no bound. */
      connections: values.CONNECTION_LIMIT,
      /** Of one gateway: WebSockets, and streams. */
      sockets: values.SOCKET_LIMIT,
      /** Bytes kept for clients that do not read. */
      unreadBytes: values.UNREAD_MAX_BYTES,
      planCacheBytes: values.PLAN_CACHE_MB * 1_000_000,
      /** Of one new GraphQL document without a credential. */
      anonymousPoints: values.ANONYMOUS_DOCUMENT_POINTS,
      /** Null: callers without a credential may send any document. */
      trustedDocumentsFile: values.TRUSTED_DOCUMENTS,
      uploadMaxBytes: values.UPLOAD_MAX_BYTES,
      uploadQuotas: values.UPLOAD_QUOTAS,
      syncMaxWaitSeconds: values.SYNC_MAX_WAIT,
      queueMaxHours: values.QUEUE_MAX_HOURS,
      /** What one worker does at once; null: as many as the binding takes. */
      workerSlots: { start: values.START_SLOTS, poll: values.POLL_SLOTS, store: values.STORE_SLOTS },
    },
    /** The tools of agents, at /mcp. */
    mcp: { on: values.MCP === 'on' },
    files: {
      /** 0: addresses are permanent and unsigned. */
      urlTtlSeconds: values.FILES_URL_TTL,
      ffmpeg: values.FFMPEG_PATH,
      /** 0: forever. */
      mediaRetentionDays: values.MEDIA_RETENTION_DAYS,
      anonymousDays: values.ANONYMOUS_UPLOAD_DAYS,
      /** Most addresses to be passed on of one caller. */
      shareLimit: values.SHARE_LIMIT,
      /** 0: forever. */
      eventRetentionDays: values.EVENT_RETENTION_DAYS,
      taskRetentionDays: values.TASK_RETENTION_DAYS,
      promptRetentionDays: values.PROMPT_RETENTION_DAYS,
      ...readStorageSettings(values),
    },
    /** OpenAI's API over our graph; null: it is not served. */
    openaiFace: readOpenaiFace(values),
    /** Whether Comfy's API v2 is served. */
    comfyApi: values.COMFY_API === 'on',
    /** Existing services that are asked for what is not known here; null: none. */
    fallback: { media: values.FALLBACK_MEDIA_URL, workflow: values.FALLBACK_WORKFLOW_URL },
    outbound: { allow: values.OUTBOUND_ALLOW },
    /** `whsec_` and base64; null: made at the first start (platform/secrets). */
    webhooks: { secret: values.WEBHOOK_SECRET },
    payments: readPaymentSettings(values, production),
    /** Null in production. `url` is null when the sandbox is embedded in this process. */
    sandbox: production ? null : { url: values.SANDBOX_URL },
    /** Whether the console is built at the start when it is missing or stale. */
    console: { build: (values.CONSOLE_BUILD ?? (production ? 'off' : 'on')) === 'on' },
    log: values.LOG_LEVEL,
    /** Null: nothing is traced. */
    tracing: readTracingSettings(values),
    /** Where metrics can be read; nowhere when both are null. */
    metrics: { port: values.METRICS_PORT, key: values.METRICS_KEY },
  };
}

/** Where a process listens, and as what callers know it. */
function readStopping({ values, role, production }: SettingsContext) {
  return {
    workerGraceSeconds: values.WORKER_GRACE_SECONDS ?? (role === 'all' && !production ? 5 : 300),
    /** 0: connections are refused at once. */
    drainSeconds: values.DRAIN_SECONDS ?? (production ? 5 : 0),
    requestGraceSeconds: values.STOP_GRACE_SECONDS,
  };
}

function readServer({ values, role, production }: SettingsContext) {
  const origins = values.CORS_ORIGINS ?? (production ? [] : ['*']);
  return {
    host: values.HOST,
    /** Whether only this machine can reach the whole of Kiln: one process that listens on a loopback address. */
    isLoopback: role === 'all' && isLoopback(values.HOST),
    /** 0 takes any free port. */
    port: values.PORT ?? PORTS[role],
    /** Without a trailing slash. Null: http://HOST:PORT, known once it listens (see `toPublicUrl`). */
    publicUrl: values.PUBLIC_URL,
    /** Addresses and CIDRs whose X-Forwarded-* headers are trusted. */
    trustProxy: values.TRUST_PROXY,
    /** Browser origins that may call. */
    corsOrigins: origins.includes('*') ? ('any' as const) : origins,
  };
}

function absolute(file: string | null): string | null {
  return file === null ? null : path.resolve(file);
}
