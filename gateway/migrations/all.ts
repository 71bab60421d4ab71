import { auditMigrations } from '../../platform/audit/migrations.ts';
import type { MigrationSet } from '../../platform/database/migrations.ts';
import { queueMigrations } from '../../platform/queue/migrations.ts';
import { mediaMigrations } from '../../subgraphs/media/database/migrations/index.ts';
import { workflowMigrations } from '../../subgraphs/workflow/database/migrations/index.ts';
import { gatewayMigrations } from './index.ts';

/** Every schema of Kiln's database. */
export const allMigrations: readonly MigrationSet[] = [
  mediaMigrations,
  workflowMigrations,
  { schema: 'gateway', migrations: gatewayMigrations },
  queueMigrations,
  auditMigrations,
];
