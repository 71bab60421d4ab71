import { cpSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { Client, type ClientConfig } from 'pg';

import { silentLogger } from '../process/logger.ts';
import { ensureSocketFolder, removeSocketFolder, socketFolder } from './embedded-postgres/cluster.ts';
import { startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.ts';
import { prepareRuntime } from './embedded-postgres/runtime.ts';
import { startServerProcess } from './embedded-postgres/server-process.ts';
import { serverUser } from './embedded-postgres/server-user.ts';

/** A real primary and a real physical standby of it, which follows it by streaming replication. */
export interface StandbyPair {
  readonly primary: { readonly connectionString: string };
  readonly standby: { readonly connectionString: string };
  /** The standby goes on and applies nothing, until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stopStandby(): Promise<void>;
  startStandby(): Promise<void>;
  close(): Promise<void>;
}

/** Makes both below a folder that everybody may enter. */
export async function startStandbyPair(folder: string): Promise<StandbyPair> {
  const logger = silentLogger();
  const server = await startEmbeddedPostgres({ dataDir: folder, logger });
  const { host = '', user = '' } = server.config;
  const addressAt = (socket: string) => ({
    connectionString: `postgresql://${user}@/postgres?host=${encodeURIComponent(socket)}&port=5432`,
  });
  const source = path.join(folder, 'postgres/data');
  const home = path.join(folder, 'standby');
  const directory = path.join(home, 'data');
  mkdirSync(home, { recursive: true, mode: 0o755 });
  await takeBackup(server.config, { source, directory });
  const runAs = serverUser(source);
  if (runAs !== undefined) own(home, runAs);
  const sockets = socketFolder(home, runAs);
  const start = async () => {
    ensureSocketFolder(sockets, runAs);
    return startServerProcess({
      bin: prepareRuntime({ runAs, nearData: home }),
      directory,
      socketFolder: sockets,
      runAs,
      settings: { port: '5432', primary_conninfo: `host=${host} port=5432 user=${user}`, hot_standby: 'on' },
      logger,
      onLost: () => undefined,
    });
  };
  let running: Awaited<ReturnType<typeof start>> | null = await start();
  const ask = async (statement: string): Promise<void> => {
    const client = new Client(addressAt(sockets));
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const stopStandby = async (): Promise<void> => {
    await running?.stop();
    running = null;
  };
  return {
    primary: addressAt(host),
    standby: addressAt(sockets),
    pause: () => ask('select pg_wal_replay_pause()'),
    resume: () => ask('select pg_wal_replay_resume()'),
    stopStandby,
    async startStandby() {
      running = await start();
    },
    async close() {
      await stopStandby();
      await server.stop();
      removeSocketFolder(sockets);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A base backup by hand: the npm package has no pg_basebackup. */
async function takeBackup(
  config: ClientConfig,
  { source, directory }: { readonly source: string; readonly directory: string },
): Promise<void> {
  const primary = new Client(config);
  await primary.connect();
  await primary.query("select pg_backup_start('standby', true)");
  cpSync(source, directory, { recursive: true, filter: (file) => !file.endsWith('postmaster.pid') });
  const { rows } = await primary.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  await primary.end();
  writeFileSync(path.join(directory, 'backup_label'), rows[0]?.labelfile ?? '');
  writeFileSync(path.join(directory, 'standby.signal'), '');
}

/** Gives all files to the user that the server runs as. */
function own(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) own(file, { uid, gid });
    else chownSync(file, uid, gid);
  }
}
