import path from 'node:path';

import { createAuditLog, type AuditLog } from '../audit/audit-log.ts';
import type { Config } from '../config/config.ts';
import { createDatabase, type Database } from '../database/database.ts';
import { createLateReads, type LateReads } from '../database/late-reads.ts';
import { migrate, type MigrationSet } from '../database/migrations.ts';
import { onceThere } from '../database/once-there.ts';
import { checkPooler } from '../database/pooler.ts';
import { toError } from '../errors.ts';
import type { EventBus } from '../events/event-bus.ts';
import { createEventBus } from '../events/postgres/postgres-event-bus.ts';
import type { HttpClient } from '../http/http-client.ts';
import { type ReadinessCheck, sharedPart } from '../http/readiness.ts';
import { createOutboundRule, type OutboundRule } from '../http/safe-url.ts';
import { tracedHttp } from '../http/traced-http.ts';
import { createHttpClient } from '../http/undici-http-client.ts';
import { measuredHttp, measurePool } from '../metrics/measure.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { startMetrics } from '../metrics/serve-metrics.ts';
import { createDiskStore } from '../object-store/disk.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { Logger } from '../process/logger.ts';
import { createQueue } from '../queue/postgres-queue.ts';
import type { Queue } from '../queue/queue.ts';
import { startTracing } from '../tracing/open-telemetry/start-tracing.ts';
import type { Tracer } from '../tracing/span.ts';
import { connectToDatabase, openData, type OpenedData } from './open-data.ts';

/**
 * The services of every process with a database, started in order and added to the lifecycle: embedded or configured
 * PostgreSQL, migrations, event bus, queue, object store, outbound HTTP. The migrations are handed in.
 */
export interface Runtime {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly database: Database;
  /** Reads that may be late. */
  readonly lateReads: LateReads;
  readonly audit: AuditLog;
  readonly bus: EventBus;
  readonly queue: Queue;
  readonly store: ObjectStore;
  readonly http: HttpClient;
  /** Of this process; they count nothing where nobody can read them. */
  readonly metrics: Metrics;
  /** Of this process; it traces nothing without a collector. */
  readonly tracer: Tracer;
  /** The outbound rule of `http`, for URLs that are called later. */
  readonly outbound: OutboundRule;
}

export interface RuntimeOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly migrations: readonly MigrationSet[];
  /** What main.ts has opened before it loaded the rest (default: opened now). */
  readonly data?: OpenedData | undefined;
}

/** Seconds for running jobs when the process stops; then they are released. */
const JOB_GRACE_SECONDS = 5;

/** Starts each part over the opened data. Rejects with an AppError. */
export async function startRuntime({
  config,
  logger,
  lifecycle,
  migrations,
  data = openData({ config, logger, lifecycle }),
}: RuntimeOptions): Promise<Runtime> {
  const metrics = await startMetrics({ config, logger, lifecycle });
  const tracer = await startTracing({ config, logger, lifecycle });
  const database = await startDatabase({ config, logger, lifecycle, data });
  measurePool(database, metrics);
  const whenThere = <Part>(start: () => Promise<Part>) => onceThere(start, { logger });
  const { databasePrepares: prepares, eventsUrls } = config.data;
  const isPooled = await whenThere(() =>
    checkPooler({ database, prepares, listens: eventsUrls === null, logger }),
  );
  await whenThere(() => migrate({ database, sets: migrations, logger, isPooled }));
  const lateReads = startLateReads({ config, logger, lifecycle, database, metrics });
  const audit = createAuditLog({
    database,
    lateReads,
    retentionDays: config.auth.auditRetentionDays,
    logger,
  });
  const bus = await whenThere(() => openEventBus({ config, logger, database }));
  lifecycle.add('event bus', () => bus.close());
  const queue = await createQueue({ database, bus, logger });
  lifecycle.add('queue', () => queue.stop(JOB_GRACE_SECONDS));
  const outbound = createOutboundRule({ allow: config.outbound.allow });
  const http = tracedHttp(measuredHttp(createHttpClient({ outbound, logger }), metrics));
  lifecycle.add('outbound HTTP', () => http.close());
  const store = await openStore({ config, logger, lifecycle });
  const parts = { database, lateReads, audit, bus, queue, store, http, outbound };
  return { config, logger, lifecycle, metrics, tracer, ...parts };
}

/** Longest read at the standby in milliseconds: one that hangs must leave time for the primary. */
const STANDBY_TIMEOUT_MS = 5_000;

/** With DATABASE_READ_URL over a pool of its own. */
function startLateReads(
  parts: Pick<Runtime, 'config' | 'logger' | 'lifecycle' | 'database' | 'metrics'>,
): LateReads {
  const { config, logger, lifecycle, database: primary, metrics } = parts;
  const { readUrl, readLateMs: maxLateMs } = config.data;
  const standby =
    readUrl === null
      ? null
      : createDatabase({
          config: { connectionString: readUrl },
          maxConnections: config.data.poolSize,
          statementTimeoutMs: Math.min(STANDBY_TIMEOUT_MS, config.data.queryTimeoutMs),
          applicationName: `kiln ${config.role} reads`,
          isTraced: config.tracing !== null,
          prepares: config.data.databasePrepares,
          logger,
        });
  if (standby !== null) lifecycle.add('standby', () => standby.close());
  const reads = createLateReads({ primary, standby, maxLateMs, logger });
  metrics.gauge(
    'kiln_read_standby_late_seconds',
    'How much the standby of DATABASE_READ_URL may lack, as it was last seen.',
    [],
    () => {
      const lateMs = reads.lateMs();
      return lateMs === null ? [] : [{ value: lateMs / 1_000 }];
    },
  );
  return reads;
}

/** Wake-ups go over NATS where EVENTS_URL names it, else over the database. */
async function openEventBus({
  config,
  logger,
  database,
}: Pick<Runtime, 'config' | 'logger' | 'database'>): Promise<EventBus> {
  const { eventsUrls } = config.data;
  if (eventsUrls === null) return createEventBus({ database, logger });
  // Loaded only when needed.
  const { createNatsEventBus } = await import('../events/nats/nats-event-bus.ts');
  return createNatsEventBus({ urls: eventsUrls, logger });
}

/** Files are in the bucket, if one is configured, else in the data directory. A failing bucket is logged. */
async function openStore(options: Omit<RuntimeOptions, 'migrations'>): Promise<ObjectStore> {
  const { config, logger, lifecycle } = options;
  const { s3, cdnBaseUrl } = config.files;
  if (s3 === null) return createDiskStore({ directory: path.join(config.data.dir, 'files') });
  // Loaded only when needed: the SDK adds 130 ms and 55 MB to a start.
  const { createS3Store } = await import('../object-store/s3/s3.ts');
  const store = createS3Store({ location: s3, cdnBaseUrl, logger });
  lifecycle.add('object storage', async () => store.close());
  // Not a reason to refuse the start: it may be back before the first file comes, and finished work waits for it.
  await store.check().then(
    () =>
      logger.info({ bucket: s3.bucket, endpoint: s3.endpoint ?? 'AWS' }, 'files are kept in object storage'),
    (error: unknown) => logger.error({ error: toError(error) }, 'the object storage can not be written'),
  );
  return store;
}

/** The database alone, for `npm run migrate` as well. */
export async function startDatabase(options: Omit<RuntimeOptions, 'migrations'>): Promise<Database> {
  const { config, logger, lifecycle } = options;
  const database = createDatabase({
    config: await (options.data?.connection ?? connectToDatabase(options)),
    maxConnections: config.data.poolSize,
    statementTimeoutMs: config.data.queryTimeoutMs,
    applicationName: `kiln ${config.role}`,
    isTraced: config.tracing !== null,
    prepares: config.data.databasePrepares,
    logger,
  });
  lifecycle.add('database', () => database.close());
  return database;
}

/**
 * The readiness check of the files. A bucket that is away is away for every process, and tasks wait for it and finish; a disk
 * that can't be used may be this machine's alone.
 */
export function storeCheck({
  config,
  store,
  logger,
}: Pick<Runtime, 'config' | 'store' | 'logger'>): ReadinessCheck {
  const check = (): Promise<void> => store.check();
  return config.files.s3 === null ? check : sharedPart('files', check, { logger });
}
