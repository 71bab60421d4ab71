import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { route, localRoute } from '../../rest-compat/route/define-route.ts';
import { builder as mediaBuilder } from '../../subgraphs/media/schema/builder.ts';
import { builder as workflowBuilder } from '../../subgraphs/workflow/schema/builder.ts';

/**
 * A root field or route that does not say who may call it is refused by the types. What dodges them is refused by the
 * plugin at the start (platform/graphql/schema/rule-plugin.ts) and by `npm run schema` (schema/policy.ts); test/policy asks all.
 */

describe('root fields', () => {
  it('without a rule do not pass the types, in either subgraph', () => {
    // Never called: only the types look at it.
    const unruled = () => {
      // @ts-expect-error -- a query needs a rule
      mediaBuilder.queryField('open', (t) => t.string({ resolve: () => 'x' }));
      // @ts-expect-error -- a mutation needs a rule
      mediaBuilder.mutationField('open', (t) => t.boolean({ resolve: () => true }));
      mediaBuilder.subscriptionField('open', (t) =>
        // @ts-expect-error -- a subscription needs a rule
        t.int({ subscribe: async function* () {}, resolve: () => 1 }),
      );
      // @ts-expect-error -- a query needs a rule
      workflowBuilder.queryField('open', (t) => t.string({ resolve: () => 'x' }));
      // @ts-expect-error -- and it must be one there is
      workflowBuilder.queryField('odd', (t) => t.string({ rule: 'everybody', resolve: () => 'x' }));
    };
    expect(unruled).toBeTypeOf('function');
  });
});

describe('routes', () => {
  it('without a document and without a rule do not pass the types', () => {
    const base = { method: 'GET', path: '/open', params: {}, rateClass: 'read' } as const;
    const unruled = () => {
      // @ts-expect-error -- a route that asks no root field needs a rule of its own
      localRoute({ ...base, reply: () => ({}) });
      // @ts-expect-error -- and it must be one there is
      localRoute({ ...base, rule: 'everybody', reply: () => ({}) });
      // @ts-expect-error -- a route that asks one has nothing to ask without variables
      route(parse('query { health { time } }'))({ ...base, reply: () => ({}) });
    };
    expect(unruled).toBeTypeOf('function');
  });
});
