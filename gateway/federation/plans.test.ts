import { readFileSync } from 'node:fs';

import { parse, printSchema } from 'graphql';
import { expect, it } from 'vitest';

import { createPlanner } from './plans.ts';

const sdl = readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8');

it('has the same schema and plans of a checked supergraph as of one that it validates', () => {
  const [checked, validated] = [createPlanner(sdl, { isChecked: true }), createPlanner(sdl)];
  expect(printSchema(checked.apiSchema)).toBe(printSchema(validated.apiSchema));
  expect(checked.subgraphs).toEqual(validated.subgraphs);
  const document = parse(
    '{ executions(first: 2) { edges { node { id task { id state outputs { url } } } } } }',
  );
  const planOf = (planner: typeof checked) =>
    JSON.stringify(planner.planOf(document, undefined).plan, (name, value: unknown) =>
      name === 'operationDocumentNode' ? undefined : value,
    );
  expect(planOf(checked)).toBe(planOf(validated));
  expect(planOf(checked)).toContain('_entities');
});

it('refuses an invalid supergraph at once', () => {
  expect(() => createPlanner('type Query { a: Nothing }')).toThrow(/core schema|Nothing/);
});
