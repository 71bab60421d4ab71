import {
  address,
  either,
  integer,
  list,
  moment,
  number,
  orNull,
  shape,
  text,
  told,
  truth,
  words,
} from '../../schemas/shapes.ts';

/** What `data` of the workflow service's answers holds: payments, executions, templates. */

const paymentWords = words('pending', 'completed', 'failed', 'cancelled', 'refunded');
const taskWords = words('pending', 'running', 'completed', 'failed');
const amount = told(integer, 'Minor units of the currency.');
const progress = told(number, '0 to 100.');
const result = shape({ videoUrl: orNull(text), urls: orNull(list(address)) });
const atProvider = { ppProductId: orNull(text), ppPriceId: orNull(text) };
const template = {
  code: text,
  name: text,
  description: orNull(text),
  creditCost: integer,
  templateType: words('IMAGE', 'VIDEO'),
  isActive: truth,
};

/** A list, and how many there are over all its parts. */
function counted(name: string, item: Parameters<typeof shape>[0]) {
  return shape({ [name]: list(shape(item)), total: integer });
}

/** Payments. */
export const paymentShapes = {
  checkout: shape({ sessionId: text, url: address, paymentId: text }),
  success: shape({
    payment: shape({ id: text, status: paymentWords, templateCode: text }),
    execution: either(shape({ executionId: text, taskId: text }), { type: 'null' }),
  }),
  cancelled: shape({ payment: shape({ id: text, status: paymentWords }) }),
  history: counted('payments', {
    id: text,
    templateCode: text,
    status: paymentWords,
    amount,
    currency: text,
    createdAt: moment,
  }),
  refund: shape({ refundId: text, amount, status: text }),
  payment: shape({
    id: text,
    templateCode: text,
    userId: text,
    status: paymentWords,
    amount,
    currency: text,
    ppSessionId: orNull(text),
    executionId: orNull(text),
    createdAt: moment,
  }),
  health: shape({ timestamp: moment, service: text }),
};

/** Executions, as tasks and as what templates run. */
export const taskShapes = {
  task: shape({
    id: text,
    status: taskWords,
    progress,
    result,
    createdAt: moment,
    completedAt: orNull(moment),
  }),
  taskId: told(text, 'Names the task.'),
  started: shape({ executionId: text, taskId: text, status: words('running') }),
  progress: shape({ taskId: text, executionId: text, status: taskWords, progress, result }),
  executions: counted('executions', {
    executionId: text,
    templateCode: text,
    status: taskWords,
    createdAt: moment,
  }),
};

/** Templates. */
export const templateShapes = {
  active: counted('templates', { ...template, tags: list(text) }),
  template: shape({ ...template, workflow: text, ppProductId: orNull(text), createdAt: moment }),
  created: shape({ code: text, ...atProvider }),
  updated: shape({ updated: truth, ppSynced: truth }),
  deleted: shape({ deleted: truth }),
  activity: shape({ isActive: truth, ppSynced: truth }),
  health: shape({ totalTemplates: integer, timestamp: moment, service: text }),
};

/** Templates as products of the payment provider. */
export const catalogShapes = {
  synced: shape({ synced: truth, ...atProvider }),
  bulk: shape({
    successful: list(text),
    failed: list(shape({ code: text, error: text })),
    total: integer,
  }),
  syncedAll: shape({ successful: integer, failed: integer, total: integer }),
  status: shape({
    totalTemplates: integer,
    withPpProduct: integer,
    activeTemplates: integer,
    needsSync: integer,
    templates: list(
      shape({ code: text, name: text, isActive: truth, hasPpProduct: truth, lastPpSyncAt: orNull(moment) }),
    ),
  }),
  verified: shape({
    templateCode: text,
    synced: truth,
    issues: list(text),
    ...atProvider,
    recommendations: list(text),
  }),
  diagnosis: shape({
    environment: text,
    apiKeyValid: truth,
    issues: list(text),
    accountInfo: shape({ chargesEnabled: orNull(truth), country: orNull(text) }),
    recommendations: list(text),
  }),
  imported: shape({
    total: integer,
    imported: integer,
    failed: integer,
    details: list(shape({ code: text, status: words('success', 'error'), error: orNull(text) })),
  }),
};
