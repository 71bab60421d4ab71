import { readConfig } from '../../platform/config/config.ts';
import { createLifecycle } from '../../platform/process/lifecycle.ts';
import { createLogger } from '../../platform/process/logger.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { watchLog } from '../kit/processes/log-watch.ts';

/** A role of Kiln inside the test's process: a tenth of what a process of its own costs, and it can't be killed. */
export interface RoleInside<Started> {
  /** What its start has answered. */
  readonly started: Started;
  /** Everything that it has logged. */
  readonly output: () => string;
  /** Stops it in order, as SIGTERM would. */
  readonly end: () => Promise<void>;
}

/** Starts it by its settings and the words of its command line. */
export async function startInside<Started>(
  start: (parts: ProcessParts) => Promise<Started>,
  settings: Readonly<Record<string, string>>,
  words: readonly string[],
): Promise<RoleInside<Started>> {
  const lines: string[] = [];
  const log = watchLog({ shown: 'silent', onLine: (line) => void lines.push(line) });
  const logger = createLogger({ level: 'info', destination: log });
  const lifecycle = createLifecycle({ logger, graceMs: 15_000 });
  try {
    const started = await start({ config: readConfig(settings, words), logger, lifecycle });
    return {
      started,
      output: () => lines.join(''),
      async end() {
        await lifecycle.stop('the test is over');
        log.expectSilence();
      },
    };
  } catch (thrown) {
    await lifecycle.stop('the start failed');
    throw thrown;
  }
}
