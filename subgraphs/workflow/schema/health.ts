import { builder } from './builder.ts';

const WorkflowHealth = builder
  .objectRef<{ readonly version: string; readonly time: Date; readonly totalTemplates: number }>(
    'WorkflowHealth',
  )
  .implement({
    description: 'Whether the workflow service works: it answers only when its database does.',
    fields: (t) => ({
      version: t.exposeString('version', { description: 'Its version.' }),
      time: t.expose('time', { type: 'DateTime', description: 'Its clock.' }),
      totalTemplates: t.exposeInt('totalTemplates', { description: 'How many templates it has.' }),
    }),
  });

builder.queryField('workflowHealth', (t) =>
  t.field({
    type: WorkflowHealth,
    description: 'Whether the workflow service works.',
    rule: 'public',
    resolve: async (_, __, { services }) => ({
      version: services.version,
      time: new Date(),
      totalTemplates: await services.templates.count(),
    }),
  }),
);
