import { mkdir, readFile, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from '../../platform/process/logger.ts';
import { writeDurably, createSerialWrites } from './durable-file.ts';
import { hasEnded, withoutWords, type Job } from './job.ts';

/**
 * The storage of the stand-ins: one JSON file per job, and the images beside them, so that jobs survive a killed process.
 * A start is counted by its job's file, which is on disk before the caller gets an answer.
 */
export interface Journal {
  /** Every kept job, oldest first. */
  all(): readonly Job[];
  get(id: string): Job | null;
  /** Writes the job; resolves when it is on disk. Writes of one job happen in the order of the calls. */
  save(job: Job): Promise<void>;
  /** Writes an image; resolves when it is on disk. */
  writeImage(name: string, bytes: Uint8Array): Promise<void>;
  /** Reads an image; null when there is none of that name (yet, or any more). */
  readImage(name: string): Promise<Buffer | null>;
  /** Deletes an image; nothing where there is none. */
  removeImage(name: string): Promise<void>;
  /** How many starts each reference has, over the kept jobs. */
  starts(): Record<string, number>;
  /** Drops what is too old, and the words of jobs that ended so many milliseconds ago. */
  forget(wordsMs: number): Promise<void>;
  /** Deletes everything. Running jobs must be stopped first. */
  clear(): Promise<void>;
  /** Resolves when all writes are done. */
  settle(): Promise<void>;
}

export interface JournalOptions {
  readonly directory: string;
  /** Ended jobs beyond this many are dropped, oldest first. */
  readonly maxJobs: number;
  /** Ended jobs older than this many milliseconds are dropped. */
  readonly maxAgeMs: number;
  readonly logger: Logger;
}

const IMAGE_NAME = /^[\w-]+(\.\w+)?$/;

/** Opens the journal in a folder, reading what an earlier process left there. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const folders = {
    jobs: path.join(options.directory, 'jobs'),
    pictures: path.join(options.directory, 'pictures'),
  };
  await makeFolders(folders);
  const jobs = await readJobs(folders.jobs, options.logger);
  const { serialized, exclusive, settled } = createSerialWrites();

  const toJobPath = (id: string) => path.join(folders.jobs, `${id}.json`);
  const toImagePath = (name: string) => {
    if (!IMAGE_NAME.test(name)) throw new Error(`not an image name: ${name}`);
    return path.join(folders.pictures, name);
  };
  const removeImage = (name: string) => serialized(name, () => rm(toImagePath(name), { force: true }));
  const drop = async (job: Job): Promise<void> => {
    jobs.delete(job.id);
    await serialized(job.id, () => rm(toJobPath(job.id), { force: true }));
    for (const name of listImages(job)) await removeImage(name);
  };
  const prune = onceAtATime(async () => {
    for (const job of surplus([...jobs.values()], options)) await drop(job);
  });

  const write = async (job: Job): Promise<void> => {
    const before = jobs.get(job.id);
    jobs.set(job.id, job);
    try {
      await serialized(job.id, () => writeDurably(toJobPath(job.id), JSON.stringify(job)));
    } catch (error) {
      // A start that is not on disk has not happened; its caller gets the error.
      if (jobs.get(job.id) === job && before === undefined) jobs.delete(job.id);
      throw error;
    }
  };

  await prune();
  await sweep(folders.pictures, jobs.values(), Date.now() - options.maxAgeMs);
  return {
    all: () => [...jobs.values()],
    get: (id) => jobs.get(id) ?? null,
    async save(job) {
      await write(job);
      if (jobs.size > options.maxJobs) await prune();
    },
    async forget(wordsMs) {
      await prune();
      const by = Date.now() - wordsMs;
      // No copy of the list: while one is written, others change or go.
      for (const job of jobs.values()) {
        const kept = wordless(job, by);
        if (kept !== job) await write(kept);
      }
    },
    writeImage: (name, bytes) => serialized(name, () => writeDurably(toImagePath(name), bytes)),
    readImage: (name) => readIfThere(toImagePath(name)),
    removeImage,
    starts: () => countStarts(jobs.values()),
    // Writes must wait: a folder can't be removed while files are added.
    clear() {
      jobs.clear();
      return exclusive(() => emptyFolders(folders));
    },
    settle: settled,
  };
}

/** What is called while it runs does nothing. */
function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
    }
  };
}

async function readIfThere(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function makeFolders(folders: { jobs: string; pictures: string }): Promise<void> {
  await mkdir(folders.jobs, { recursive: true });
  await mkdir(folders.pictures, { recursive: true });
}

async function emptyFolders(folders: { jobs: string; pictures: string }): Promise<void> {
  await rm(folders.jobs, { recursive: true, force: true });
  await rm(folders.pictures, { recursive: true, force: true });
  await makeFolders(folders);
}

async function readJobs(folder: string, logger: Logger): Promise<Map<string, Job>> {
  const found: Job[] = [];
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    if (!name.endsWith('.json')) {
      // A write interrupted by a crash: the job was never accepted, or its previous content is still there.
      await rm(file, { force: true });
      continue;
    }
    try {
      found.push(JSON.parse(await readFile(file, 'utf8')) as Job);
    } catch (error) {
      logger.warn({ file: name, error }, 'a journal entry of the sandbox is unreadable and left out');
    }
  }
  found.sort((one, other) => one.submittedAt - other.submittedAt);
  return new Map(found.map((job) => [job.id, job]));
}

/** Removes images that a killed process has not finished, and those of no job from before `oldest`. */
async function sweep(folder: string, jobs: Iterable<Job>, oldest: number): Promise<void> {
  const known = new Set([...jobs].flatMap(listImages));
  for (const name of await readdir(folder)) {
    if (known.has(name)) continue;
    const file = path.join(folder, name);
    if (name.endsWith('.part') || (await stat(file)).mtimeMs < oldest) await rm(file, { force: true });
  }
}

/** The names of every image that belongs to a job, its inputs included. */
function listImages(job: Job): string[] {
  const inputs = Array.isArray(job.input['pictures']) ? job.input['pictures'].map(String) : [];
  const results = job.result?.files.map((file) => file.name) ?? [];
  return [...inputs, ...results, `${job.id}-preview.webp`];
}

/** The job without its words where it ended by then; the same one where it did not, or has none. */
function wordless(job: Job, by: number): Job {
  return (job.endedAt ?? Infinity) <= by ? withoutWords(job) : job;
}

function surplus(jobs: readonly Job[], limits: { maxJobs: number; maxAgeMs: number }): Job[] {
  const ended = jobs.filter(hasEnded);
  const tooMany = Math.max(0, jobs.length - limits.maxJobs);
  // A tenth more than necessary, so that a full journal is not pruned at every start.
  const drop = tooMany === 0 ? 0 : tooMany + Math.floor(limits.maxJobs / 10);
  const oldest = Date.now() - limits.maxAgeMs;
  return ended.filter((job, index) => index < drop || (job.endedAt ?? 0) < oldest);
}

function countStarts(jobs: Iterable<Job>): Record<string, number> {
  const counts: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const { reference } of jobs) {
    if (reference !== null) counts[reference] = (counts[reference] ?? 0) + 1;
  }
  return counts;
}
