import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import type { Rule } from '../platform/access/policy.ts';
import { enforceEntityRules } from '../platform/graphql/schema/subgraph-schema.ts';
import { localRoute, route } from '../rest-compat/route/define-route.ts';
import type { Route, Section } from '../rest-compat/route/route.ts';
import { sections } from '../rest-compat/tables.ts';
import { mediaSchema } from '../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../subgraphs/workflow/schema/index.ts';
import { policyPage } from './policy-page.ts';
import { collectPolicy } from './policy.ts';

/** What has no rule does not pass `npm run schema`, which `npm run check` runs. */

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])\n' +
  'type Thing @key(fields: "id") { id: ID! }\n';

/** A subgraph whose root fields have these rules. */
function createSchema(
  fields: Readonly<Record<string, Rule | undefined>>,
  rules: Readonly<Record<string, Rule>> = { Thing: 'anyone' },
): GraphQLSchema {
  const names = Object.keys(fields);
  const typeDefs = parse(`${LINK} type Query { ${names.map((name) => `${name}: Thing`).join(' ')} }`);
  const schema = buildSubgraphSchema({ typeDefs });
  for (const [name, field] of Object.entries(schema.getQueryType()?.getFields() ?? {})) {
    if (fields[name] !== undefined) field.extensions = { rule: fields[name] };
  }
  return enforceEntityRules(schema, rules);
}

const section = (...routes: Route[]): Section => ({ service: 'media', title: 'Things', routes });
const base = { method: 'GET', path: '/thing', params: {}, rateClass: 'read' } as const;
const asking = (text: string, rule?: Rule): Route =>
  route(parse(text))({
    ...base,
    ...(rule === undefined ? {} : { rule }),
    variables: () => ({}),
    reply: () => ({}),
  });
const collect = (schema: GraphQLSchema, ...routes: Route[]) =>
  collectPolicy([{ name: 'things', schema }], [section(...routes)]);

describe('the policy', () => {
  it('is refused when a root field has no rule', () => {
    expect(() => collect(createSchema({ open: undefined }))).toThrow('the query open of things has no rule');
  });

  it('is refused when an entity has no rule', () => {
    expect(() => createSchema({ open: 'public' }, {})).toThrow('the entity Thing has no rule');
    const unruled = buildSubgraphSchema({ typeDefs: parse(`${LINK} type Query { open: Thing }`) });
    for (const field of Object.values(unruled.getQueryType()?.getFields() ?? {}))
      field.extensions = { rule: 'public' };
    expect(() => collect(unruled)).toThrow('the entity Thing of things has no rule');
  });

  it('is refused when a route has no rule, by itself or by what it asks', () => {
    const schema = createSchema({ thing: 'anyone' });
    const unruled = { ...localRoute({ ...base, rule: 'public', reply: () => ({}) }) };
    delete (unruled as { rule?: Rule }).rule;
    expect(() => collect(schema, unruled)).toThrow('GET /thing has no rule');
    expect(() => collect(schema, asking('{ other { id } }'))).toThrow('GET /thing: query other has no rule');
    expect(() => collect(schema, asking('{ ...Hidden } fragment Hidden on Query { thing { id } }'))).toThrow(
      'names its root fields',
    );
  });

  it('gives a route the strictest rule of what it asks, and lets it tighten that only', () => {
    const schema = createSchema({ thing: 'anyone', change: 'admin', open: 'public' });
    const findRule = (one: Route) => collect(schema, one).routes[0]?.rule;
    expect(findRule(asking('{ open { id } thing { id } }'))).toBe('anyone');
    expect(findRule(asking('{ thing { id } change { id } }'))).toBe('admin');
    expect(findRule(asking('{ open { id } }', 'admin'))).toBe('admin');
    expect(findRule(asking('{ open { id } }', 'proof'))).toBe('proof');
    expect(() => collect(schema, asking('{ change { id } }', 'anyone'))).toThrow(
      'loosens a rule from admin to anyone',
    );
  });

  it('names every root field, entity and route of Kiln on its page', () => {
    const policy = collectPolicy(
      [
        { name: 'media', schema: mediaSchema },
        { name: 'workflow', schema: workflowSchema },
      ],
      sections,
    );
    const page = policyPage(policy);
    const names = [
      ...policy.fields.map(({ kind, name }) => `| ${kind} | \`${name}\` |`),
      ...policy.entities.map(({ subgraph, name }) => `| ${subgraph} | \`${name}\` |`),
      ...sections.flatMap(({ routes }) => routes.map(({ method, path }) => `| \`${method} ${path}\` |`)),
    ];
    expect(names.length).toBeGreaterThan(150);
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });
});
