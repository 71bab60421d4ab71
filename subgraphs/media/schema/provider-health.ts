import type { BreakerState } from '../generators/breakers/circuit-breaker.ts';
import type { ProviderHealth as ProviderHealthShape } from '../provider-health/provider-health.ts';
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

const ProviderHealth = builder.objectRef<ProviderHealthShape>('ProviderHealth').implement({
  description: "How the provider behind one of a generator's bindings has done in the last hour.",
  fields: (t) => ({
    binding: t.exposeID('binding', {
      description: 'The generator and its number in the order of fall-back.',
    }),
    generator: t.exposeString('generator', { description: 'The generator that it works for.' }),
    provider: t.exposeString('provider', { description: 'The wire that it speaks.' }),
    sandbox: t.exposeBoolean('sandbox', { description: 'Whether it is the stand-in of the sandbox.' }),
    breaker: t.expose('breaker', {
      type: Breaker,
      nullable: true,
      description: 'Its circuit breaker; null where nothing watches.',
    }),
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
  }),
});

builder.queryField('providerHealth', (t) =>
  t.field({
    type: [ProviderHealth],
    description: 'How the providers do, binding by binding, over the last hour.',
    rule: 'admin',
    resolve: async (_, __, { services }) => [...(await services.providerHealth())],
  }),
);
