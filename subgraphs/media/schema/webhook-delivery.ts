import type { WebhookDelivery as WebhookDeliveryShape } from '../webhooks/service.ts';
import { builder } from './builder.ts';
import { Task, loadTask } from './task.ts';

const WebhookDelivery = builder.objectRef<WebhookDeliveryShape>('WebhookDelivery').implement({
  description: "A delivery of a task's result webhook to its `callbackUrl`.",
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The webhook-id header of every attempt, redeliveries included.' }),
    task: t.field({
      type: Task,
      description: 'The task that has ended.',
      resolve: ({ taskId }, _, context) => loadTask(taskId, context),
    }),
    url: t.exposeString('url', { description: 'Where it goes.' }),
    attempts: t.exposeInt('attempts', { description: 'How often it was sent, redeliveries included.' }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a 2xx came; null until then.',
    }),
    lastStatus: t.exposeInt('lastStatus', {
      nullable: true,
      description: 'HTTP status of the last attempt; null when no answer came.',
    }),
    lastError: t.exposeString('lastError', {
      nullable: true,
      description: 'Why the last attempt failed, and whether it was the last.',
    }),
  }),
});

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: [WebhookDelivery],
    description: 'The deliveries of webhooks about the end of a task of the caller; empty before its end.',
    rule: 'owner',
    args: { taskId: t.arg.id({ required: true, description: 'The id of the task.' }) },
    resolve: async (_, { taskId }, { caller, services }) => [
      ...(await services.webhooks.deliveries(caller, taskId)),
    ],
  }),
);

builder.mutationField('redeliverWebhook', (t) =>
  t.field({
    type: WebhookDelivery,
    description:
      'Sends a delivery again now, under the same id. Asked several times at once, it is sent once.',
    rule: 'owner',
    args: { id: t.arg.id({ required: true, description: 'The id of the delivery.' }) },
    resolve: (_, { id }, { caller, services }) => services.webhooks.redeliver(caller, id),
  }),
);
