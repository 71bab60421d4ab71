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
