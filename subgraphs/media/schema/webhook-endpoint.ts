import type { JsonObject } from '../../../platform/json.ts';
import { boundedFirst } from '../../../platform/paging.ts';
import type {
  EndpointDelivery as EndpointDeliveryShape,
  WebhookEndpoint as WebhookEndpointShape,
} from '../webhooks/endpoint-store.ts';
import type { EndpointWithSecret as EndpointWithSecretShape } from '../webhooks/endpoints.ts';
import { builder } from './builder.ts';

const WebhookEndpoint = builder.objectRef<WebhookEndpointShape>('WebhookEndpoint').implement({
  description: "An address of the operator's own that receives events: signed POSTs (Standard Webhooks).",
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    url: t.exposeString('url', { description: 'Where events go.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    eventTypes: t.stringList({
      description: 'What it receives, such as task.failed, provider.* or * for everything.',
      resolve: ({ eventTypes }) => [...eventTypes],
    }),
    rotatedAt: t.expose('rotatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its secret was last replaced; the one before signs as well for a day.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

const EndpointWithSecret = builder.objectRef<EndpointWithSecretShape>('WebhookEndpointWithSecret').implement({
  description: 'An endpoint with the secret that signs what it gets.',
  fields: (t) => ({
    endpoint: t.field({
      type: WebhookEndpoint,
      description: 'The endpoint.',
      resolve: ({ endpoint }) => endpoint,
    }),
    secret: t.exposeString('secret', {
      description: '`whsec_` and base64, for libraries of Standard Webhooks. It is in this answer alone.',
    }),
  }),
});

const EndpointDelivery = builder.objectRef<EndpointDeliveryShape>('WebhookEndpointDelivery').implement({
  description: 'A delivery of one event to one endpoint.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The webhook-id header of every attempt.' }),
    type: t.exposeString('type', { description: 'Type of the event, as `task.failed`.' }),
    taskId: t.exposeID('taskId', { nullable: true, description: 'The task that has ended.' }),
    url: t.exposeString('url', { description: 'Address of the endpoint when it happened.' }),
    state: t.exposeString('state', {
      description: 'PENDING: waits or is retried; DELIVERED: a 2xx came; GIVEN_UP: none did.',
    }),
    attempts: t.exposeInt('attempts', { description: 'How often it was sent.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a 2xx came.',
    }),
    lastStatus: t.exposeInt('lastStatus', {
      nullable: true,
      description: 'HTTP status of the last attempt; null when no answer came.',
    }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Why the last attempt failed.' }),
  }),
});

builder.queryField('webhookEndpoints', (t) =>
  t.field({
    type: [WebhookEndpoint],
    description: "The operator's webhook endpoints.",
    rule: 'operator',
    resolve: async (_, __, { services }) => [...(await services.webhookEndpoints.all())],
  }),
);

builder.queryField('webhookEndpointDeliveries', (t) =>
  t.field({
    type: [EndpointDelivery],
    description: 'What was sent to an endpoint, newest first.',
    rule: 'operator',
    args: {
      endpointId: t.arg.id({ required: true, description: 'The id of the endpoint.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 200.' }),
    },
    resolve: async (_, { endpointId, first }, { services }) => [
      ...(await services.webhookEndpoints.deliveries(endpointId, boundedFirst(first, 200))),
    ],
  }),
);

builder.mutationField('createWebhookEndpoint', (t) =>
  t.field({
    type: EndpointWithSecret,
    description: 'Makes an address that receives events from now on.',
    rule: 'operator',
    args: {
      url: t.arg.string({ required: true, description: 'Public http or https address.' }),
      eventTypes: t.arg.stringList({
        required: true,
        description:
          'Of task.succeeded, task.failed, task.cancelled, budget.warning, provider.down, provider.up, model.retiring, payment.succeeded, payment.failed, payment.cancelled, payment.refunded, payment.disputed, batch.completed, batch.failed, batch.cancelled; task.*, budget.*, provider.*, model.*, payment.*, batch.*; or *. Besides video.completed and video.failed, the ends of videos as OpenAI sends them, which * leaves out.',
      }),
      description: t.arg.string({ description: 'What it is for.' }),
    },
    resolve: (_, input, { services }) => services.webhookEndpoints.create(input),
  }),
);

builder.mutationField('updateWebhookEndpoint', (t) =>
  t.field({
    type: WebhookEndpoint,
    description:
      'Changes what is sent of an endpoint. What is still to be delivered goes to its new address.',
    rule: 'operator',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the endpoint.' }),
      url: t.arg.string({ description: 'Public http or https address.' }),
      eventTypes: t.arg.stringList({ description: 'As at its making.' }),
      description: t.arg.string({ description: 'What it is for.' }),
    },
    resolve: (_, { id, ...input }, { services }) => services.webhookEndpoints.update(id, input),
  }),
);

builder.mutationField('rotateWebhookSecret', (t) =>
  t.field({
    type: EndpointWithSecret,
    description: 'A new secret for an endpoint. For a day messages are signed with the one before as well.',
    rule: 'operator',
    args: { id: t.arg.id({ required: true, description: 'The id of the endpoint.' }) },
    resolve: (_, { id }, { services }) => services.webhookEndpoints.rotateSecret(id),
  }),
);

builder.mutationField('deleteWebhookEndpoint', (t) =>
  t.field({
    type: WebhookEndpoint,
    description: 'Removes an endpoint with its deliveries.',
    rule: 'operator',
    args: { id: t.arg.id({ required: true, description: 'The id of the endpoint.' }) },
    resolve: (_, { id }, { services }) => services.webhookEndpoints.remove(id),
  }),
);

builder.mutationField('redeliverToWebhookEndpoint', (t) =>
  t.field({
    type: EndpointDelivery,
    description:
      'Sends a delivery again now, under the same id. Asked several times at once, it is sent once.',
    rule: 'operator',
    args: { deliveryId: t.arg.id({ required: true, description: 'The id of the delivery.' }) },
    resolve: (_, { deliveryId }, { services }) => services.webhookEndpoints.redeliver(deliveryId),
  }),
);

builder.mutationField('publishEvent', (t) =>
  t.field({
    type: 'Boolean',
    description:
      "Reports an event of another service to the operator's endpoints. An id that comes again is reported once.",
    rule: 'service',
    inaccessible: true,
    args: {
      id: t.arg.id({ required: true, description: 'The id of the event.' }),
      type: t.arg.string({ required: true, description: 'As `payment.succeeded`.' }),
      at: t.arg({ type: 'DateTime', required: true, description: 'When it happened.' }),
      data: t.arg({ type: 'JSON', required: true, description: 'What it says.' }),
    },
    resolve: async (_, { data, ...event }, { services }) => {
      await services.webhookEndpoints.publish({ ...event, data: data as JsonObject });
      return true;
    },
  }),
);
