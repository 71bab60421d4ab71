import { readConfig } from '../../platform/config/config.ts';
import { sandboxAddresses } from '../../platform/config/sandbox-addresses.ts';
import { createLifecycle } from '../../platform/process/lifecycle.ts';
import { createLogger } from '../../platform/process/logger.ts';
import { startRuntime } from '../../platform/runtime/runtime.ts';
import { composeMedia } from '../../subgraphs/media/compose.ts';
import { mediaMigrations } from '../../subgraphs/media/database/migrations/index.ts';

/** A worker whose every wake-up for other processes is lost on the way. */
export interface WorkerWithoutWakeUps {
  /** How many wake-ups it has lost. */
  lost(): number;
  stop(): Promise<void>;
}

/** Starts it in the test's process, on the settings of a split Kiln. */
export async function startWorkerWithoutWakeUps(
  settings: Readonly<Record<string, string>>,
): Promise<WorkerWithoutWakeUps> {
  const config = readConfig({ ...settings, ROLE: 'worker' });
  const logger = createLogger({ level: 'error' });
  const lifecycle = createLifecycle({ logger, graceMs: 15_000 });
  const migrations = [mediaMigrations];
  const runtime = await startRuntime({ config, logger, lifecycle, migrations });
  let lost = 0;
  const bus = { ...runtime.bus, publish: () => void (lost += 1) };
  const media = composeMedia(
    { ...runtime, bus },
    {
      sandboxUrls: sandboxAddresses(config.sandbox?.url ?? ''),
      publicUrl: config.server.publicUrl ?? '',
      fileSecret: 'f'.repeat(64),
      webhookSecret: `whsec_${'f'.repeat(44)}`,
    },
  );
  await media.start();
  await media.worker.start();
  lifecycle.add('worker', () => media.worker.stop(5));
  return { lost: () => lost, stop: () => lifecycle.stop('the test is over') };
}
