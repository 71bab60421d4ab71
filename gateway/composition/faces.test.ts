import { readFileSync } from 'node:fs';

import { buildSchema, printSchema } from 'graphql';
import { expect, it } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { sections } from '../../rest-compat/tables.ts';
import { createPlanner } from '../federation/plans.ts';
import { sectionsThatFit } from './faces.ts';

const supergraph = readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8');
const { apiSchema } = createPlanner(supergraph, {});

/** The services that are served, and those that are said to be off. */
function servedWithout(...fields: readonly string[]) {
  const schema = buildSchema(printSchema(apiSchema));
  for (const field of fields) delete schema.getMutationType()?.getFields()[field];
  const off: unknown[] = [];
  const warn = (said: object | string) => void off.push((said as { readonly service: string }).service);
  const served = sectionsThatFit(schema, { ...silentLogger(), warn });
  return { served: [...new Set(served.map(({ service }) => service))], off, count: served.length };
}

it('serves of a foreign supergraph the services whose documents all fit it', () => {
  expect(servedWithout()).toEqual({ served: ['media', 'workflow'], off: [], count: sections.length });
  expect(servedWithout('chat')).toMatchObject({ served: ['workflow'], off: ['media'] });
  expect(servedWithout('checkout')).toMatchObject({ served: ['media'], off: ['workflow'] });
  expect(servedWithout('chat', 'checkout')).toMatchObject({ served: [], off: ['media', 'workflow'] });
});
