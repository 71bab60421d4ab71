import { setTimeout as pause } from 'node:timers/promises';

import type {
  CallContext,
  Handle,
  JobCapability,
  JobStatus,
  RemoteFile,
} from '../../../subgraphs/media/providers/contract/provider.ts';
import { makeContext, must, type Environment } from '../environment/environment.ts';
import { REFERENCE, type ContractRow, type JobRow } from './row.ts';
import { documented } from './wire-shape.ts';

/** One long piece of work of one provider, with everything that a test asks of it. */
export interface JobHarness {
  readonly environment: Environment;
  readonly job: JobCapability;
  readonly context: CallContext;
  readonly start: (reference?: string, context?: CallContext) => Promise<Handle>;
  readonly status: (handle: Handle) => Promise<JobStatus>;
  /** Asks until the status satisfies; gives every answer on the way. */
  readonly follow: (handle: Handle, satisfies: (status: JobStatus) => boolean) => Promise<JobStatus[]>;
  /** What it ends as. */
  readonly end: (handle: Handle) => Promise<JobStatus>;
  /** Asks whether a start with this reference happened. */
  readonly find: (reference: string) => Promise<Handle | 'absent' | 'unknowable'>;
  readonly cancel: (handle: Handle) => Promise<'cancelled' | 'too-late'>;
  readonly erase: (handle: Handle) => Promise<void>;
  /** What the wire carries for a reference. */
  readonly carried: (reference: string) => string;
  /** How many requests of the start went out. */
  readonly startsSent: () => number;
}

/** Whether nothing more will happen. */
export const isFinal = ({ state }: JobStatus) => state === 'finished' || state === 'failed';

/** Lays out the work of one row in a world. */
export function jobHarness(row: ContractRow, wanted: JobRow, world: Environment): JobHarness {
  const {
    kind,
    operation,
    request,
    basePath = row.basePath,
    carried = (reference: string) => reference,
  } = wanted;
  const job: JobCapability | undefined = world.providers[row.provider]?.jobs?.[kind];
  if (job === undefined) throw new Error(`${row.provider} has no job ${kind}`);
  const context = makeContext(world.connection(row.basePath, row.headers, row));
  const status = (handle: Handle) => job.status(handle, context);
  const startPath = documented(row.fixture, operation).path;
  const follow = async (handle: Handle, satisfies: (status: JobStatus) => boolean) => {
    const seen: JobStatus[] = [];
    const start = Date.now();
    while (Date.now() < start + 20_000) {
      const now = await status(handle);
      seen.push(now);
      if (satisfies(now)) return seen;
      // Work that goes on is looked at less often.
      await pause(Math.max(20, Math.min((Date.now() - start) / 5, 100)));
    }
    throw new Error(`it never came that far: ${JSON.stringify(seen.at(-1))}`);
  };
  return {
    environment: world,
    job,
    context,
    start: async (reference = REFERENCE, other = context) =>
      job.start(typeof request === 'function' ? await request(world) : request, { ...other, reference }),
    status,
    follow,
    end: async (handle) => must((await follow(handle, isFinal)).at(-1), 'end'),
    find: async (reference) => must(await job.find?.(reference, context), 'way to ask for a start'),
    cancel: async (handle) => must(await job.cancel?.(handle, context), 'way to cancel'),
    erase: async (handle) => {
      if (job.erase === undefined) throw new Error('it has no way to erase');
      await job.erase(handle, context);
    },
    carried,
    startsSent: () => world.proxy.sent.filter(({ path }) => path === basePath + startPath).length,
  };
}

/** The handle that asking for the reference gives; fails when it gives none. */
export async function findHandle({ find }: JobHarness, reference = REFERENCE): Promise<Handle> {
  const found = await find(reference);
  return must(typeof found === 'object' ? found : null, `handle but ${JSON.stringify(found)}`);
}

/** The files of finished work. */
export function listFiles(status: JobStatus): readonly RemoteFile[] {
  return must(
    status.state === 'finished' ? status.outcome.files : null,
    `result but ${JSON.stringify(status)}`,
  );
}

/** The address of a result that lies at the upstream. */
export function readUrl(file: RemoteFile | undefined): string {
  return must(file !== undefined && 'url' in file ? file.url : null, 'address of a result');
}

/** What a result must be fetched with. */
export function readHeaders(file: RemoteFile): Readonly<Record<string, string>> {
  return 'url' in file ? (file.headers ?? {}) : {};
}
