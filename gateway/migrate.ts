import { migrate } from '../platform/database/migrations.ts';
import { checkPooler } from '../platform/database/pooler.ts';
import { runProcess } from '../platform/runtime/run-process.ts';
import { startDatabase } from '../platform/runtime/runtime.ts';
import { allMigrations } from './migrations/all.ts';

// `npm run migrate`: migrates the database and ends. Every start does the same.
await runProcess(async (parts) => {
  const database = await startDatabase(parts);
  const done = await migrate({
    database,
    sets: allMigrations,
    logger: parts.logger,
    isPooled: await checkPooler({ database, prepares: false, listens: false, logger: parts.logger }),
  });
  parts.logger.info(
    { migrations: done },
    done.length === 0 ? 'the database was up to date already' : 'the database was migrated',
  );
  await parts.lifecycle.stop('done');
});
