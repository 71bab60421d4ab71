import { createSubgraphBuilder } from '../../../platform/graphql/schema/builder.ts';
import type { WorkflowContext } from './context.ts';

/**
 * The workflow subgraph's schema builder. Each other file of this folder adds one domain type with its root fields;
 * index.ts lists them all. Resolvers are one line into a service; rules live there.
 */
export const { builder, connection } = createSubgraphBuilder<WorkflowContext>();
