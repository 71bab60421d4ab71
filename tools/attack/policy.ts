import { sections } from '../../rest-compat/tables.ts';
import { collectPolicy } from '../../schema/policy.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';

/** Every root field and route with its rule: what attackers go through. */
export const schemas = { media: mediaSchema, workflow: workflowSchema };
export const policy = collectPolicy(
  Object.entries(schemas).map(([name, schema]) => ({ name, schema })),
  sections,
);
