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

/** What `data` of the workflow service's answers holds: payments, executions, templates. */

const paymentWords = enumOf('pending', 'completed', 'failed', 'cancelled', 'refunded');
const taskWords = enumOf('pending', 'running', 'completed', 'failed');
const amount = withDescription(integer, 'Minor units of the currency.');
const progress = withDescription(number, '0 to 100.');
const result = objectOf({ videoUrl: nullable(string), urls: nullable(listOf(uri)) });
const atProvider = { ppProductId: nullable(string), ppPriceId: nullable(string) };
const template = {
  code: string,
  name: string,
  description: nullable(string),
  creditCost: integer,
  templateType: enumOf('IMAGE', 'VIDEO'),
  isActive: boolean,
};

/** A list, and how many there are over all its parts. */
function counted(name: string, item: Parameters<typeof objectOf>[0]) {
  return objectOf({ [name]: listOf(objectOf(item)), total: integer });
}

/** Payments. */
export const paymentSchemas = {
  checkout: objectOf({ sessionId: string, url: uri, paymentId: string }),
  success: objectOf({
    payment: objectOf({ id: string, status: paymentWords, templateCode: string }),
    execution: anyOf(objectOf({ executionId: string, taskId: string }), { type: 'null' }),
  }),
  cancelled: objectOf({ payment: objectOf({ id: string, status: paymentWords }) }),
  history: counted('payments', {
    id: string,
    templateCode: string,
    status: paymentWords,
    amount,
    currency: string,
    createdAt: dateTime,
  }),
  refund: objectOf({ refundId: string, amount, status: string }),
  payment: objectOf({
    id: string,
    templateCode: string,
    userId: string,
    status: paymentWords,
    amount,
    currency: string,
    ppSessionId: nullable(string),
    executionId: nullable(string),
    createdAt: dateTime,
  }),
  health: objectOf({ timestamp: dateTime, service: string }),
};

/** Executions, as tasks and as what templates run. */
export const taskSchemas = {
  task: objectOf({
    id: string,
    status: taskWords,
    progress,
    result,
    createdAt: dateTime,
    completedAt: nullable(dateTime),
  }),
  taskId: withDescription(string, 'Names the task.'),
  started: objectOf({ executionId: string, taskId: string, status: enumOf('running') }),
  progress: objectOf({ taskId: string, executionId: string, status: taskWords, progress, result }),
  executions: counted('executions', {
    executionId: string,
    templateCode: string,
    status: taskWords,
    createdAt: dateTime,
  }),
};

/** Templates. */
export const templateSchemas = {
  active: counted('templates', { ...template, tags: listOf(string) }),
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
    templates: listOf(
      objectOf({
        code: string,
        name: string,
        isActive: boolean,
        hasPpProduct: boolean,
        lastPpSyncAt: nullable(dateTime),
      }),
    ),
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
