import type { Migration } from 'kysely/migration';

import type { MigrationSet } from '../../../../platform/database/migrations.ts';
import { templatesAndExecutions } from './0001-templates-and-executions.ts';
import { signIn } from './0002-sign-in.ts';
import { payments } from './0003-payments.ts';
import { automaticRefunds } from './0004-automatic-refunds.ts';
import { dueRefunds } from './0005-due-refunds.ts';
import { checkoutPages } from './0006-checkout-pages.ts';
import { refundsOfTheProvider } from './0007-refunds-of-the-provider.ts';
import { limitsOfKeys } from './0008-limits-of-keys.ts';
import { ownPrices } from './0009-own-prices.ts';
import { importedTemplates } from './0010-imported-templates.ts';
import { traces } from './0011-traces.ts';
import { soldExecutions } from './0012-sold-executions.ts';
import { orderOfUsers } from './0013-order-of-users.ts';
import { retentionMarks } from './0014-retention-marks.ts';
import { rotatedKeys } from './0015-rotated-keys.ts';

/** Every migration of the "workflow" schema, in order of name. A static map, so nothing is scanned at start. */
const migrations: Record<string, Migration> = {
  '0001-templates-and-executions': templatesAndExecutions,
  '0002-sign-in': signIn,
  '0003-payments': payments,
  '0004-automatic-refunds': automaticRefunds,
  '0005-due-refunds': dueRefunds,
  '0006-checkout-pages': checkoutPages,
  '0007-refunds-of-the-provider': refundsOfTheProvider,
  '0008-limits-of-keys': limitsOfKeys,
  '0009-own-prices': ownPrices,
  '0010-imported-templates': importedTemplates,
  '0011-traces': traces,
  '0012-sold-executions': soldExecutions,
  '0013-order-of-users': orderOfUsers,
  '0014-retention-marks': retentionMarks,
  '0015-rotated-keys': rotatedKeys,
};

/** The schema "workflow", and the indexes of its large tables. */
export const workflowMigrations: MigrationSet = {
  schema: 'workflow',
  migrations,
  indexes: {
    payments_template: 'workflow.payments (template_code, created_at desc)',
    executions_ended: 'workflow.executions (ended_at) where ended_at is not null',
    payments_by_age: 'workflow.payments (created_at)',
    payments_of_user: 'workflow.payments (user_id, id desc)',
    payments_by_rare_status: `workflow.payments (status, id desc) where status <> 'COMPLETED'`,
    service_keys_former: 'workflow.service_keys (former_sha256) where former_sha256 is not null',
    idempotency_by_age: 'workflow.idempotency (created_at)',
  },
};
