import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import FederationPlugin from '@pothos/plugin-federation';

import { rulePlugin } from '../../../platform/graphql/schema/rule-plugin.ts';
import type { Json } from '../../../platform/json.ts';
import type { WorkflowContext } from './context.ts';

/**
 * The workflow subgraph's schema builder: types and plugins, nothing else. Each other file of this folder adds one
 * domain type with its root fields; index.ts lists them all. Resolvers are one line into a service; rules live there.
 */
export const builder = new SchemaBuilder<{
  Context: WorkflowContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string | number };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: NonNullable<Json>; Output: unknown };
  };
}>({
  plugins: [rulePlugin, DirectivesPlugin, FederationPlugin],
  defaultFieldNullability: false,
});

builder.queryType({ description: 'Everything that can be read.' });
builder.mutationType({ description: 'Everything that starts, changes or deletes something.' });
builder.subscriptionType({ description: 'What can be watched live; each can be resumed where it was left.' });
