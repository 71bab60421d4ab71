import { ConfigError, readConfig, type Config } from '../config/config.ts';
import type { LogLevel } from '../config/settings/log-levels.ts';
import { AppError, toError } from '../errors.ts';
import { setCellOfNewIds } from '../ids.ts';
import { createLifecycle, type Lifecycle } from '../process/lifecycle.ts';
import { createLogger, type Logger } from '../process/logger.ts';
import { releaseMemoryAfterStart } from '../process/release-memory.ts';

/** The parts of every process. */
export interface ProcessParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** Most milliseconds for each part to stop. */
const GRACE_MS = 15_000;

/**
 * Runs a main.ts: settings (all problems at once, exit 1), logger, signals, then `start`. When the start fails, what
 * was started is stopped, the reason is printed in one line, and the process exits with 1. `commandLine` is for programs
 * that read their own options, `logLevel` for those whose output is something else than the log.
 */
export async function runProcess(
  start: (parts: ProcessParts) => Promise<void>,
  {
    commandLine = process.argv.slice(2),
    logLevel,
  }: { readonly commandLine?: readonly string[]; readonly logLevel?: LogLevel } = {},
): Promise<void> {
  // Files in DATA_DIR are for this user alone.
  process.umask(0o077);
  const config = configOrExit(commandLine);
  setCellOfNewIds(config.cells.own);
  const logger = createLogger({
    ...config.log,
    ...(logLevel !== undefined && { level: logLevel }),
    pretty: !config.production && process.stdout.isTTY,
  });
  const lifecycle = createLifecycle({ logger, graceMs: GRACE_MS });
  lifecycle.onSignals();
  try {
    await start({ config, logger, lifecycle });
    releaseMemoryAfterStart();
  } catch (thrown) {
    await giveUp(thrown, { logger, lifecycle });
  }
}

function configOrExit(commandLine: readonly string[]): Config {
  try {
    return readConfig(undefined, commandLine);
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    process.stderr.write(`${thrown.message}\n`);
    return process.exit(1);
  }
}

async function giveUp(thrown: unknown, { logger, lifecycle }: Omit<ProcessParts, 'config'>): Promise<never> {
  const error = toError(thrown);
  // The message of an expected failure is enough; anything else needs its stack.
  if (thrown instanceof AppError) process.stderr.write(`Kiln can't start: ${error.message}\n`);
  else logger.error({ error }, 'the start failed');
  await lifecycle.stop('the start failed');
  process.exit(1);
}
