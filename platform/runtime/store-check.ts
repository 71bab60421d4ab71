import { type ReadinessCheck, sharedPart } from '../http/readiness.ts';
import type { Runtime } from './runtime.ts';

/**
 * The readiness check of the files. A bucket that is away is away for every process, and tasks wait for it and finish; a disk
 * that can't be used may be this machine's alone.
 */
export function storeCheck({
  config,
  store,
  logger,
}: Pick<Runtime, 'config' | 'store' | 'logger'>): ReadinessCheck {
  const check = (): Promise<void> => store.check();
  return config.files.s3 === null ? check : sharedPart('files', check, { logger });
}
