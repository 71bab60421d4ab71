import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { PoolConfig } from 'pg';

import { createDatabase } from '../../../platform/database/database.ts';
import { createDiskStore } from '../../../platform/object-store/disk.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { mediaDatabase } from '../database/database.ts';
import { createFileService } from './service.ts';
import type { FileServiceOptions } from './service.ts';

/** A database with the table of files and a store on disk, for the tests of this folder. Takes over the database it is given. */
export async function fileWorld(fresh: { readonly config: PoolConfig; drop(): Promise<void> }) {
  const logger = silentLogger();
  const platform = createDatabase({
    config: fresh.config,
    maxConnections: 5,
    applicationName: 'test',
    logger,
  });
  const database = mediaDatabase(platform);
  const directory = await mkdtemp(path.join(tmpdir(), 'kiln-files-'));
  const store: ObjectStore = createDiskStore({ directory });
  const defaults = {
    database,
    store,
    publicUrl: 'https://kiln.example.org/api',
    cdnBaseUrl: null,
    urlTtlSeconds: 0,
  };
  return {
    database,
    store,
    /** A service over this world. */
    service: (options: Partial<FileServiceOptions> = {}) =>
      createFileService({ ...defaults, secret: 'a secret of this test', logger, ...options }),
    async close() {
      await platform.close();
      await fresh.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type FileWorld = Awaited<ReturnType<typeof fileWorld>>;
