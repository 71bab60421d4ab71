import { expect, it } from 'vitest';

import type { StepInput } from '../../../domain/work/work.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { unknownModel } from '../../../generators/catalog/catalog.ts';
import { createBinding } from '../../../generators/configuration/create-binding.ts';
import { testBinding } from '../../testing/provider.ts';
import { connectionFor } from './attempt-context.ts';

/** How long a call that makes an image may take, end to end: from settings and catalog to the connection. */

const image = (more: object = {}): StepInput => ({ kind: 'IMAGE', generator: 'union', prompt: 'a', ...more });

function bindingWith(change: {
  longestSeconds?: number;
  callTimeoutSeconds?: number;
  attemptTimeoutSeconds?: number;
}) {
  const { longestSeconds = null, ...limits } = change;
  return createBinding({
    generator: 'union',
    index: 0,
    provider: { name: 'openai', calls: { IMAGE: { call: () => Promise.reject(new Error('not called')) } } },
    connection: { baseUrl: 'http://127.0.0.1:1' },
    settings: 'a test',
    models: [{ ...unknownModel('a', ['IMAGE']), longestSeconds }],
    today: () => '2026-09-01',
    sandbox: false,
    ...limits,
  });
}

it('names the options of the model to its wire', () => {
  const options = { type: 'object' as const, properties: { warmth: { type: 'integer' as const } } };
  const binding = createBinding({
    generator: 'union',
    index: 0,
    provider: { name: 'openai', calls: { IMAGE: { call: () => Promise.reject(new Error('not called')) } } },
    connection: { baseUrl: 'http://127.0.0.1:1' },
    settings: 'a test',
    models: [{ ...unknownModel('a', ['IMAGE']), options }],
    today: () => '2026-09-01',
    sandbox: false,
  });
  expect(connectionFor(binding, image()).options).toEqual(options);
});

it('names the model that is asked for, else the first that is able, else its own, with what its wire is to know', () => {
  const wire = { size: 'large' } as never;
  const models = [
    { ...unknownModel('film', ['VIDEO']), isRetired: () => false },
    { ...unknownModel('a', ['IMAGE']), isRetired: () => false, wire },
    { ...unknownModel('b', ['IMAGE']), isRetired: () => false },
  ] as never;
  const at = (model: string | null, change: object = {}) => {
    const binding = testBinding('test#0', { name: 'openai' }, 'http://127.0.0.1:1', { models, ...change });
    return { ...binding, connection: { ...binding.connection, model } };
  };
  const { connection } = at('own');
  const named = (binding: Binding, input: StepInput) => connectionFor(binding, input);
  expect(named(at('own'), image())).toEqual({ ...connection, model: 'a', wire });
  expect(named(at('own'), image({ model: 'b' }))).toEqual({ ...connection, model: 'b' });
  expect(named(at('own'), image({ model: 'unknown' }))).toEqual({ ...connection, model: 'unknown' });
  expect(named(at('own', { models: [] }), image())).toEqual(connection);
  // One without a model of its own names none.
  expect(named(at(null, { callTimeoutSeconds: 5 }), image({ model: 'b' }))).toEqual({
    ...connection,
    model: null,
  });
});

it.each([
  [{}, image(), undefined, 900],
  [{ longestSeconds: 600 }, image(), 600, 1_200],
  [{ longestSeconds: 600 }, image({ resolution: '1536x1024' }), 600, 1_200],
  [{ longestSeconds: 600 }, image({ resolution: '4K' }), 900, 1_200],
  [{ longestSeconds: 600 }, image({ resolution: '3840x2160' }), 900, 1_200],
  [{ longestSeconds: 600 }, image({ resolution: '3000x2000' }), 900, 1_200],
  [{ longestSeconds: 600 }, image({ resolution: '2999x2000' }), 600, 1_200],
  [{ longestSeconds: 400 }, image({ options: { quality: 'high' } }), 600, 900],
  [{ longestSeconds: 400 }, image({ quality: 'max', resolution: '4K' }), 900, 900],
  [{ longestSeconds: 600, callTimeoutSeconds: 2_000 }, image({ resolution: '4K' }), 2_000, 2_000],
  [{ callTimeoutSeconds: 2_000, attemptTimeoutSeconds: 700 }, image(), 2_000, 700],
])('with %o a call for %o may take %s s, its attempt %i', (change, input, seconds, attempt) => {
  const binding = bindingWith(change);
  const { callTimeoutMs } = connectionFor(binding, input);
  expect(callTimeoutMs).toBe(seconds === undefined ? undefined : seconds * 1_000);
  expect(binding.attemptTimeoutSeconds).toBe(attempt);
});
