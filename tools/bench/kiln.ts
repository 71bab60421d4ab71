import { startEmbeddedPostgres } from '../../platform/database/embedded-postgres/embedded-postgres.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import {
  startKilnProcess,
  temporaryDataDir,
  type KilnProcess,
} from '../../test/kit/processes/kiln-process.ts';
import type { BenchTools } from './bench.ts';

/** A really started Kiln: `node gateway/main.ts` in a process of its own, over a new data directory. */
export interface BenchedKiln extends KilnProcess {
  readonly url: string;
  /** How to connect to its embedded database, as JSON for a program's command line. */
  readonly connection: string;
}

/** Starts it; it is stopped, and its files removed, with the tools. */
export async function startBenchedKiln(
  { lifecycle }: BenchTools,
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchedKiln> {
  const { dataDir, remove } = await temporaryDataDir();
  lifecycle.add('data directory', async () => remove());
  const kiln = await startKilnProcess({ dataDir, settings: { LOG_LEVEL: 'info', ...settings } });
  lifecycle.add('Kiln', () => kiln.stop());
  // It runs already: asking for it once more only tells where it is.
  const { config } = await startEmbeddedPostgres({ dataDir, logger: silentLogger() });
  return { ...kiln, connection: JSON.stringify(config) };
}
