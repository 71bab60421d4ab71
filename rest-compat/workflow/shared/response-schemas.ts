import {
  uri,
  anyOf,
  integer,
  listOf,
  dateTime,
  number,
  nullable,
  objectOf,
  string,
  withDescription,
  boolean,
  enumOf,
} from '../../schemas/json-schema.ts';
import type { JsonSchema } from '../../schemas/openapi-types.ts';

/** The schemas of `data` in the workflow service's responses. Replies pick the members that they name. */

const paymentStatus = enumOf('pending', 'completed', 'failed', 'cancelled', 'refunded');
const taskStatus = enumOf('pending', 'running', 'completed', 'failed');
const amount = withDescription(integer, 'Minor units of the currency.');
const progress = withDescription(number, '0 to 100.');
const taskError = withDescription(
  nullable(objectOf({ code: string, message: string })),
  'Why it failed; null unless it did.',
);
const result = objectOf({ videoUrl: nullable(string), urls: nullable(listOf(uri)) });
const atProvider = { ppProductId: nullable(string), ppPriceId: nullable(string) };
const template = {
  code: string,
  name: string,
  description: nullable(string),
  creditCost: integer,
  price: withDescription(nullable(integer), 'Own price in minor units; null: that of its credits.'),
  currency: withDescription(nullable(string), 'Own currency; null: the usual one.'),
  templateType: enumOf('IMAGE', 'VIDEO'),
  isActive: boolean,
};

/** A part of a list, and how many there are in all. */
function counted(name: string, item: JsonSchema) {
  return objectOf({ [name]: listOf(item), total: integer });
}

const refundReason = enumOf('user_request', 'technical_issue', 'duplicate', 'fraudulent');
const refunded = {
  refundedAmount: withDescription(integer, 'What was given back of it, in minor units.'),
  refunds: withDescription(
    listOf(
      objectOf({
        refundId: string,
        amount,
        reason: nullable(refundReason),
        status: string,
        createdAt: dateTime,
      }),
    ),
    "Its refunds, those of the payment provider's own pages too, oldest first; the reason is null where none was given.",
  ),
};

/** Members of lists. */
export const itemSchemas = {
  payment: objectOf({
    id: string,
    templateCode: string,
    status: paymentStatus,
    amount,
    ...refunded,
    currency: string,
    createdAt: dateTime,
  }),
  template: objectOf({ ...template, tags: listOf(string) }),
  syncStatus: objectOf({
    code: string,
    name: string,
    isActive: boolean,
    hasPpProduct: boolean,
    lastPpSyncAt: nullable(dateTime),
    issues: withDescription(listOf(string), 'Why it cannot be run now.'),
  }),
};

const payment = {
  id: string,
  templateCode: string,
  userId: string,
  status: paymentStatus,
  amount,
  ...refunded,
  currency: string,
  ppSessionId: nullable(string),
  executionId: nullable(string),
  createdAt: dateTime,
};

/** Payments. */
export const paymentSchemas = {
  checkout: objectOf({ sessionId: string, url: uri, paymentId: string }),
  success: objectOf({
    payment: objectOf({ id: string, status: paymentStatus, templateCode: string }),
    execution: anyOf(objectOf({ executionId: string, taskId: string }), { type: 'null' }),
  }),
  cancelled: objectOf({ payment: objectOf({ id: string, status: paymentStatus }) }),
  history: counted('payments', itemSchemas.payment),
  refund: objectOf({ refundId: string, amount, status: string }),
  payment: objectOf(payment),
  sale: objectOf({
    ...payment,
    cost: nullable(
      withDescription(
        number,
        'What its task costs at the providers, in minor units; null when that is unknown.',
      ),
    ),
    margin: nullable(
      withDescription(number, 'What was paid and not given back, without the cost; likewise.'),
    ),
    costEstimated: nullable(
      withDescription(
        boolean,
        'Whether some of the cost is expected: always while it runs; null before it runs.',
      ),
    ),
  }),
  health: objectOf({ timestamp: dateTime, service: string }),
};

/** The sales of everybody. */
export const salesSchemas = {
  sales: objectOf({
    payments: listOf(paymentSchemas.sale),
    total: integer,
    sums: withDescription(
      listOf(
        objectOf({
          currency: string,
          status: paymentStatus,
          count: integer,
          amount: withDescription(number, 'Minor units.'),
          refundedAmount: withDescription(number, 'What was given back, in minor units.'),
        }),
      ),
      'Totals of the payments on all pages, by currency and status.',
    ),
  }),
};

/** Executions, as tasks and as what templates run. */
export const taskSchemas = {
  task: objectOf({
    id: string,
    status: taskStatus,
    progress,
    result,
    error: taskError,
    createdAt: dateTime,
    completedAt: nullable(dateTime),
  }),
  taskId: withDescription(string, 'Names the task.'),
  started: objectOf({ executionId: string, taskId: string, status: enumOf('running') }),
  progress: objectOf({
    taskId: string,
    executionId: string,
    status: taskStatus,
    progress,
    result,
    error: taskError,
  }),
  executions: counted(
    'executions',
    objectOf({
      executionId: string,
      templateCode: string,
      status: taskStatus,
      createdAt: dateTime,
    }),
  ),
};

/** Templates. */
export const templateSchemas = {
  active: counted('templates', itemSchemas.template),
  template: objectOf({ ...template, workflow: string, ppProductId: nullable(string), createdAt: dateTime }),
  created: objectOf({ code: string, ...atProvider }),
  updated: objectOf({ updated: boolean, ppSynced: boolean }),
  deleted: objectOf({ deleted: boolean }),
  activity: objectOf({ isActive: boolean, ppSynced: boolean }),
  health: objectOf({ totalTemplates: integer, timestamp: dateTime, service: string }),
};

/** Templates as products of the payment provider. */
export const catalogSchemas = {
  synced: objectOf({ synced: boolean, ...atProvider }),
  bulk: objectOf({
    successful: listOf(string),
    failed: listOf(objectOf({ code: string, error: string })),
    total: integer,
  }),
  syncedAll: objectOf({ successful: integer, failed: integer, total: integer }),
  status: objectOf({
    totalTemplates: integer,
    withPpProduct: integer,
    activeTemplates: integer,
    needsSync: integer,
    templates: listOf(itemSchemas.syncStatus),
  }),
  verified: objectOf({
    templateCode: string,
    synced: boolean,
    issues: listOf(string),
    ...atProvider,
    recommendations: listOf(string),
  }),
  diagnosis: objectOf({
    environment: string,
    apiKeyValid: boolean,
    issues: listOf(string),
    accountInfo: objectOf({ chargesEnabled: nullable(boolean), country: nullable(string) }),
    recommendations: listOf(string),
  }),
  imported: objectOf({
    total: integer,
    imported: integer,
    failed: integer,
    details: listOf(objectOf({ code: string, status: enumOf('success', 'error'), error: nullable(string) })),
  }),
};
