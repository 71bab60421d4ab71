import { toError } from '../../../platform/errors.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { MediaHealth } from '../schema/index.ts';
import type { MediaSubgraphOptions } from './options.ts';

/** Each generator: ok, sandbox, or not available (with the settings that would change that). */
function generatorsOf(registry: GeneratorRegistry): MediaHealth['generators'] {
  const states = Object.groupBy(registry.all(), ({ generator }) => generator);
  const available = Object.entries(states).map(([generator, bindings = []]) => ({
    generator,
    state: bindings.every(({ sandbox }) => sandbox) ? ('sandbox' as const) : ('ok' as const),
    setting: null,
  }));
  const missing = Object.entries(registry.missing()).map(([generator, setting]) => ({
    generator,
    state: 'not available' as const,
    setting,
  }));
  return [...available, ...missing].toSorted((one, other) => (one.generator < other.generator ? -1 : 1));
}

/** Whether the database and the object store answer; what went wrong is logged. */
export async function healthOf({
  database,
  store,
  logger,
  version,
  registry,
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
    generators: generatorsOf(registry),
  };
}
