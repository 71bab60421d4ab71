import type { BreakerState } from '../generators/breakers/circuit-breaker.ts';
import type { Pause } from '../generators/pauses/pauses.ts';
import type { ModelWarning as ModelWarningShape } from '../provider-health/model-ends.ts';
import type { ProviderHealth as ProviderHealthShape } from '../provider-health/provider-health.ts';
import type { ProviderHour as ProviderHourShape } from '../provider-health/provider-hours.ts';
import { comfyServers, type ComfyServer as ComfyServerShape } from '../synchronous/nodes.ts';
import { builder } from './builder.ts';

const Breaker = builder.objectRef<BreakerState>('Breaker').implement({
  description:
    'The circuit breaker of a provider: open after outages or refusals of our credentials in a row.',
  fields: (t) => ({
    open: t.exposeBoolean('isOpen', { description: 'Whether it is left alone, but for one call per pause.' }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next call is let through; null while it is closed.',
    }),
    failures: t.exposeInt('failures', { description: 'Failures in a row, as this process has seen them.' }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Message of the last of them.' }),
  }),
});

const BindingPause = builder.objectRef<Pause>('BindingPause').implement({
  description: 'That an administrator has paused a binding.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'Why; empty when nothing was said.' }),
    by: t.exposeID('pausedBy', { description: 'Id of the administrator.' }),
    at: t.expose('pausedAt', { type: 'DateTime', description: 'When.' }),
  }),
});

const ModelWarning = builder.objectRef<ModelWarningShape>('ModelWarning').implement({
  description: 'A model that ends soon or has ended, or that its provider does not have.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'Its name at the provider.' }),
    retiresAt: t.exposeString('retiresAt', {
      nullable: true,
      description: 'The first day on which the provider refuses it, YYYY-MM-DD; null when none is known.',
    }),
    daysLeft: t.exposeInt('daysLeft', {
      nullable: true,
      description: 'Days until then; 0 and below: it has ended.',
    }),
    successor: t.exposeString('successor', {
      nullable: true,
      description: 'What the provider names in its place.',
    }),
    goneAt: t.expose('goneAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the provider said that it does not have it, or not for our credentials; null: it did not.',
    }),
  }),
});

const ProviderHealth = builder.objectRef<ProviderHealthShape>('ProviderHealth').implement({
  description: "How the provider behind one of a generator's bindings has done in the last hour.",
  fields: (t) => ({
    binding: t.exposeID('binding', {
      description:
        'Its name: the generator, and what GENERATORS_FILE calls it, else its provider, what it does and a fingerprint of address and account. It keeps it wherever it stands in the order of fall-back.',
    }),
    generator: t.exposeString('generator', { description: 'The generator that it works for.' }),
    provider: t.exposeString('provider', { description: 'The wire that it speaks.' }),
    sandbox: t.exposeBoolean('sandbox', { description: 'Whether it is the stand-in of the sandbox.' }),
    breaker: t.expose('breaker', {
      type: Breaker,
      nullable: true,
      description: 'Its circuit breaker; null where nothing watches.',
    }),
    settings: t.exposeString('settings', {
      description: 'The settings that its address and credentials come from.',
    }),
    paused: t.expose('paused', {
      type: BindingPause,
      nullable: true,
      description: 'Set while it gets no new work; what it has goes on.',
    }),
    models: t.field({
      type: [ModelWarning],
      description: 'Its models that end within 60 days, have ended, or that the provider does not have.',
      resolve: ({ models }) => [...models],
    }),
    waiting: t.exposeInt('waiting', { description: 'How much work waits for its start here.' }),
    open: t.exposeInt('open', { description: 'Starts that are under way.' }),
    concurrency: t.exposeInt('concurrency', { description: 'Most starts at once, over all workers.' }),
    attempts: t.exposeInt('attempts', { description: 'Starts that have ended.' }),
    succeeded: t.exposeInt('succeeded', { description: 'Of these those that ended well.' }),
    errors: t.expose('errors', { type: 'JSON', description: 'Code of a failure -> how often.' }),
    p50: t.exposeFloat('p50', {
      nullable: true,
      description: 'Half of those that ended well took at most so many seconds.',
    }),
    p95: t.exposeFloat('p95', { nullable: true, description: '95 % took at most so many seconds.' }),
    lastSuccess: t.expose('lastSuccess', {
      type: 'DateTime',
      nullable: true,
      description: 'End of the last one that ended well.',
    }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Message of the last failure.' }),
    lastErrorAt: t.expose('lastErrorAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it happened.',
    }),
  }),
});

const ProviderHour = builder.objectRef<ProviderHourShape>('ProviderHour').implement({
  description: "What has ended at one of a generator's bindings within an hour.",
  fields: (t) => ({
    binding: t.exposeID('binding', { description: 'Its name, as `providerHealth` has it.' }),
    hour: t.expose('hour', { type: 'DateTime', description: 'Beginning of the hour, in UTC.' }),
    attempts: t.exposeInt('attempts', { description: 'Starts that have ended.' }),
    succeeded: t.exposeInt('succeeded', { description: 'Of these those that ended well.' }),
  }),
});

/** A ComfyUI server. */
export const ComfyServer = builder.objectRef<ComfyServerShape>('ComfyServer').implement({
  description: 'A ComfyUI server of a binding, and how busy it is.',
  fields: (t) => ({
    binding: t.exposeID('binding', { description: 'Name of the binding that it belongs to.' }),
    address: t.exposeString('address', { description: 'Its address.' }),
    up: t.boolean({ description: 'Whether it answers.', resolve: ({ load }) => load !== null }),
    running: t.int({
      nullable: true,
      description: 'Jobs it works on; null when it does not answer.',
      resolve: ({ load }) => load?.running ?? null,
    }),
    pending: t.int({
      nullable: true,
      description: 'Jobs that wait there; null when it does not answer.',
      resolve: ({ load }) => load?.pending ?? null,
    }),
    capacity: t.int({
      nullable: true,
      description: 'Most jobs it should hold; null when it does not answer.',
      resolve: ({ load }) => load?.capacity ?? null,
    }),
  }),
});

builder.queryField('comfyServers', (t) =>
  t.field({
    type: [ComfyServer],
    description: 'The ComfyUI servers of every binding, queried now.',
    rule: 'admin',
    resolve: async (_, __, { services, signal }) => [...(await comfyServers(services.registry, signal))],
  }),
);

builder.queryField('providerHealth', (t) =>
  t.field({
    type: [ProviderHealth],
    description: 'How the providers do, binding by binding, over the last hour.',
    rule: 'admin',
    resolve: async (_, __, { services }) => [...(await services.providerHealth.all())],
  }),
);

builder.queryField('providerHours', (t) =>
  t.field({
    type: [ProviderHour],
    description:
      'What has ended at each binding in the last 24 hours, by hour; hours without an end are left out. An answer is kept for half a minute.',
    rule: 'admin',
    resolve: async (_, __, { services }) => [...(await services.providerHealth.hours())],
  }),
);

builder.mutationField('pauseBinding', (t) =>
  t.field({
    type: ProviderHealth,
    description:
      'Gives a binding no new work. What it has goes on; what waits goes to another binding, or waits until it is resumed.',
    rule: 'admin',
    args: {
      binding: t.arg.id({ required: true, description: 'Its name, as `providerHealth` has it.' }),
      reason: t.arg.string({ description: 'For other administrators; at most 200 characters.' }),
    },
    resolve: (_, { binding, reason }, { services, caller }) =>
      services.providerHealth.pause(caller, binding, reason ?? ''),
  }),
);

builder.mutationField('resumeBinding', (t) =>
  t.field({
    type: ProviderHealth,
    description: 'Gives a paused binding work again; what has waited starts at once.',
    rule: 'admin',
    args: {
      binding: t.arg.id({ required: true, description: 'Its name, as `providerHealth` has it.' }),
    },
    resolve: (_, { binding }, { services }) => services.providerHealth.resume(binding),
  }),
);
