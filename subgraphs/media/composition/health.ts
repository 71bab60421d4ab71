import { toError } from '../../../platform/errors.ts';
import type { MediaHealth } from '../schema/index.ts';
import type { MediaSubgraphOptions } from './options.ts';

/** Whether the database and the object store answer; what went wrong is logged. */
export async function healthOf({
  database,
  store,
  logger,
  version,
}: MediaSubgraphOptions): Promise<MediaHealth> {
  const verdict = async (part: string, check: () => Promise<void>): Promise<string> => {
    try {
      await check();
      return 'ok';
    } catch (thrown) {
      logger.warn({ error: toError(thrown), part }, 'a health check failed');
      return 'unavailable';
    }
  };
  const [databaseVerdict, storeVerdict] = await Promise.all([
    verdict('database', () => database.check()),
    verdict('files', () => store.check()),
  ]);
  return {
    service: 'media',
    version,
    time: new Date(),
    checks: { database: databaseVerdict, files: storeVerdict },
  };
}
