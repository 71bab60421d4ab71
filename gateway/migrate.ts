import { auditMigrations } from '../platform/audit/migrations.ts';
import { migrate } from '../platform/database/migrations.ts';
import { runProcess } from '../platform/runtime/run-process.ts';
import { startDatabase } from '../platform/runtime/runtime.ts';
import { mediaMigrations } from '../subgraphs/media/database/migrations/index.ts';
import { workflowMigrations } from '../subgraphs/workflow/database/migrations/index.ts';
import { gatewayMigrations } from './migrations/index.ts';

// `npm run migrate`: migrates the database and ends. Every start does the same.
await runProcess(async (parts) => {
  const database = await startDatabase(parts);
  const done = await migrate({
    database,
    sets: [
      mediaMigrations,
      { schema: 'workflow', migrations: workflowMigrations },
      { schema: 'gateway', migrations: gatewayMigrations },
      auditMigrations,
    ],
    logger: parts.logger,
  });
  parts.logger.info(
    { migrations: done },
    done.length === 0 ? 'the database was up to date already' : 'the database was migrated',
  );
  await parts.lifecycle.stop('done');
});
