/** The workflow subgraph's schema. Every file of this folder is listed here (a test holds it); each adds its types to the builder. */
import './template.ts';
import './execution.ts';
import './execution-fields.ts';
import './user.ts';
import './user-list.ts';
import './personal-data.ts';
import './payment.ts';
import './checkout.ts';
import './refund.ts';
import './payment-list.ts';
import './audit.ts';
import './catalog.ts';
import './template-changes.ts';
import './session.ts';
import './sign-in.ts';
import './service-key.ts';
import './caller.ts';
import './health.ts';
import { enforceEntityRules, subgraphSchema } from '../../../platform/graphql/schema/subgraph-schema.ts';
import { builder } from './builder.ts';

export { createWorkflowContext, type WorkflowContext, type WorkflowServices } from './context.ts';

/** Built without any dependency: what the resolvers call comes with the context. */
export const workflowSchema = enforceEntityRules(subgraphSchema(builder), {
  Task: 'anyone',
  Execution: 'anyone',
  Payment: 'anyone',
  Template: 'public',
  User: 'owner',
});
