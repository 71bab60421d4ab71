import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * Writes a file atomically and durably: after a crash it has the old or the new content, never a part. Temporary file,
 * fsync, rename, fsync of the folder.
 */
export async function writeDurably(file: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.part`;
  try {
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Serializes the writes of each name; writes of different names run in parallel. */
interface SerialWrites {
  /** Runs `write` after earlier writes of the same name; a failure does not affect later ones. */
  readonly serialized: (name: string, write: () => Promise<void>) => Promise<void>;
  /** Runs `work` when all earlier writes have ended; later writes wait for it. */
  readonly exclusive: (work: () => Promise<void>) => Promise<void>;
  /** Resolves when all writes have ended, successfully or not. */
  readonly settled: () => Promise<void>;
}

/** Creates the serializer. */
export function createSerialWrites(): SerialWrites {
  const last = new Map<string, Promise<void>>();
  let gate: Promise<unknown> = Promise.resolve();
  const settled = async () => {
    await Promise.allSettled(last.values());
  };
  return {
    serialized(name, write) {
      const before = Promise.allSettled([last.get(name), gate]);
      const mine = before.then(write);
      last.set(name, mine);
      const forget = () => {
        if (last.get(name) === mine) last.delete(name);
      };
      mine.then(forget, forget);
      return mine;
    },
    exclusive(work) {
      const mine = Promise.allSettled([settled(), gate]).then(work);
      gate = mine.catch(() => undefined);
      return mine;
    },
    settled,
  };
}
