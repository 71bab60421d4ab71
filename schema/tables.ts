import type { Kysely } from 'kysely';
import { generate, GenericExpressionNode, IdentifierNode, PostgresDialect } from 'kysely-codegen';

import type { MigrationSet } from '../platform/database/migrations.ts';
import { mediaMigrations } from '../subgraphs/media/database/migrations/index.ts';
import { workflowMigrations } from '../subgraphs/workflow/database/migrations/index.ts';

/**
 * The Kysely table types of a subgraph, generated from its migrated PostgreSQL schema: every column is typed once, by
 * the migration that makes it. `npm run tables` writes them, a test fails when they are stale.
 */
export interface TableTypes extends MigrationSet {
  /** Path of the generated file from the root of the repository. */
  readonly file: string;
  /** Columns whose type says more than PostgreSQL does, by `table.column`. */
  readonly columns: Readonly<Record<string, IdentifierNode | GenericExpressionNode>>;
  /** Modules of the types named there, by the name of the type. */
  readonly imports: Readonly<Record<string, string>>;
}

const named = (type: string) => new IdentifierNode(type);
const generated = (type: string) => new GenericExpressionNode('Generated', [named(type)]);
const json = (type: string) => new GenericExpressionNode('JSONColumnType', [named(type)]);
const OBJECT = json('StoredJson');

/** Every generated file. */
export const tableTypes: readonly TableTypes[] = [
  {
    file: 'subgraphs/media/database/tables.ts',
    schema: 'media',
    migrations: mediaMigrations.migrations,
    columns: {
      'attempts.cost': named('number'),
      'attempts.error': named('Failure'),
      'attempts.handle': named('StoredJson'),
      'attempts.state': named('AttemptState'),
      'attempts.units': named('Units'),
      'budget_holds.amount': named('number'),
      'budgets.amount': named('number'),
      'budgets.period': named('BudgetPeriod'),
      'budgets.reserved': generated('number'),
      'budgets.scope': named('BudgetScope'),
      'budgets.soft_amount': named('number'),
      'budgets.spent': generated('number'),
      'chat_replies.error': json('ChatFailure'),
      'chat_replies.state': generated('ReplyState'),
      'chat_replies.tool_calls': json('StoredToolCalls'),
      'conversation_messages.role': named('MessageRole'),
      'conversations.settings': json('StoredJson'),
      'media.bytes': named('number'),
      'media.state': named('MediaState'),
      'provider_resources.answer': json('StoredJson'),
      'task_events.state': named('TaskState'),
      'task_steps.finished': named('FinishedWork'),
      'task_steps.input': named('StoredStepInput'),
      'task_steps.outcome': named('TaskOutcome'),
      'task_steps.state': named('StepState'),
      'task_steps.stored': generated('StoredFiles'),
      'tasks.error': named('Failure'),
      'tasks.input': named('StoredWork'),
      'tasks.kind': named('TaskKind'),
      'tasks.result': named('TaskOutcome'),
      'tasks.state': named('TaskState'),
      'video_templates.fields': OBJECT,
      'webhook_deliveries.event': named('StoredEvent'),
      'webhook_deliveries.state': named('DeliveryState'),
    },
    imports: {
      AttemptState: '../domain/attempt.ts',
      BudgetPeriod: '../domain/budget.ts',
      BudgetScope: '../domain/budget.ts',
      ChatFailure: '../domain/failure.ts',
      DeliveryState: './column-types.ts',
      Failure: '../domain/failure.ts',
      FinishedWork: './column-types.ts',
      JSONColumnType: 'kysely',
      MessageRole: './column-types.ts',
      MediaState: './column-types.ts',
      ReplyState: './column-types.ts',
      StepState: '../domain/task.ts',
      StoredEvent: './column-types.ts',
      StoredFiles: './column-types.ts',
      StoredJson: '../../../platform/json.ts#JsonObject',
      StoredStepInput: './column-types.ts',
      StoredToolCalls: './column-types.ts',
      StoredWork: './column-types.ts',
      TaskKind: '../domain/task.ts',
      TaskOutcome: '../domain/task.ts',
      TaskState: '../domain/task.ts',
      Units: '../domain/cost.ts',
    },
  },
  {
    file: 'subgraphs/workflow/database/tables.ts',
    schema: 'workflow',
    migrations: workflowMigrations.migrations,
    columns: {
      'executions.error': json('ExecutionError'),
      'executions.parameters': OBJECT,
      'executions.start': OBJECT,
      'executions.status': generated('ExecutionStatus'),
      'login_codes.platform': named('PlatformName'),
      'payments.parameters': OBJECT,
      'payments.start': OBJECT,
      'payments.status': generated('PaymentStatus'),
      'refunds.metadata': OBJECT,
      'refunds.reason': named('RefundReason'),
      'signing_keys.public_jwk': json('JWK'),
      'templates.parameters': OBJECT,
      'templates.template_type': named('TemplateType'),
    },
    imports: {
      ExecutionError: '../domain/execution.ts',
      ExecutionStatus: '../domain/execution.ts',
      JSONColumnType: 'kysely',
      StoredJson: '../../../platform/json.ts#JsonObject',
      JWK: 'jose',
      PaymentStatus: '../domain/payment.ts',
      PlatformName: '../domain/sign-in.ts',
      RefundReason: '../domain/payment.ts',
      TemplateType: '../domain/template.ts',
    },
  },
];

/** The content of a generated file; the database must be migrated. */
export function generateTables(db: Kysely<unknown>, types: TableTypes): Promise<string> {
  const columns = Object.entries(types.columns).map(([name, type]) => [`${types.schema}.${name}`, type]);
  return generate({
    db,
    dialect: new PostgresDialect(),
    camelCase: true,
    singularize: true,
    includePattern: `${types.schema}.*`,
    excludePattern: `${types.schema}.migrations*`,
    overrides: { columns: Object.fromEntries(columns) },
    customImports: types.imports,
    outFile: null,
  });
}
