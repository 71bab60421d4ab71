import { builder } from './builder.ts';
import { ParameterType, SavedWorkflow, WorkflowProposal } from './saved-workflow.ts';

/** Saving, publishing and finding ComfyUI graphs as functions. */

const ParameterInput = builder.inputType('WorkflowParameterInput', {
  description: 'An input of a workflow that is saved.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Letters, digits and _.' }),
    type: t.field({ type: ParameterType, required: true, description: 'What it takes.' }),
    at: t.stringList({
      required: true,
      description: 'Where its value goes in the graph: `<node id>.<input name>`, one or several.',
    }),
    required: t.boolean({ description: 'Absent: where it has no default.' }),
    default: t.field({ type: 'JSON', description: 'Absent: the value that the graph has.' }),
    minimum: t.float({ description: 'Least, of a number.' }),
    maximum: t.float({ description: 'Most, of a number.' }),
    multipleOf: t.int({ description: 'Of an integer.' }),
    values: t.stringList({ description: 'The only texts it may be.' }),
    description: t.string({ description: 'What it is for; at most 2,000 characters.' }),
  }),
});

const OutputInput = builder.inputType('WorkflowOutputInput', {
  description: 'An output of a workflow that is saved.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Letters, digits and _.' }),
    node: t.string({ required: true, description: 'Id of the node whose files or texts these are.' }),
    type: t.string({ description: 'image, video, audio, text or file; file when absent.' }),
  }),
});

builder.mutationField('saveWorkflow', (t) =>
  t.field({
    type: SavedWorkflow,
    description:
      "Saves a version of a ComfyUI graph under a name, for its saver to try out; `publishWorkflow` gives it to everybody. A name is its first saver's: CONFLICT for those of others. BAD_USER_INPUT names what is wrong with the graph, an input or an output.",
    rule: 'owner',
    args: {
      name: t.arg.id({ required: true, description: 'Small letters, digits and hyphens.' }),
      graph: t.arg({ type: 'JSON', required: true, description: 'A graph in API format.' }),
      inputs: t.arg({
        type: [ParameterInput],
        description: 'What it takes; absent: what `proposedWorkflow` finds.',
      }),
      outputs: t.arg({
        type: [OutputInput],
        description: 'What it makes; absent: what `proposedWorkflow` finds.',
      }),
      description: t.arg.string({ description: 'What it is for; its first line is its title.' }),
    },
    resolve: (_, draft, { caller, services }) => services.savedWorkflows.save(caller, draft),
  }),
);

const name = { required: true, description: 'The name.' } as const;

builder.mutationField('publishWorkflow', (t) =>
  t.field({
    type: SavedWorkflow,
    description:
      'Has everybody whom the policy allows run this version: as `workflowName`, and as the model `workflow/<name>`. NOT_FOUND for those of others. It stands in the audit log.',
    rule: 'owner',
    audited: true,
    args: {
      id: t.arg.id(name),
      version: t.arg.int({ required: true, description: 'Number of the version.' }),
    },
    resolve: (_, { id, version }, { caller, services }) =>
      services.savedWorkflows.publish(caller, id, version),
  }),
);

builder.mutationField('rollBackWorkflow', (t) =>
  t.field({
    type: SavedWorkflow,
    description:
      'Publishes again the version that was published before. BAD_USER_INPUT where there is none. It stands in the audit log.',
    rule: 'owner',
    audited: true,
    args: { id: t.arg.id(name) },
    resolve: (_, { id }, { caller, services }) => services.savedWorkflows.rollBack(caller, id),
  }),
);

builder.mutationField('withdrawWorkflow', (t) =>
  t.field({
    type: SavedWorkflow,
    description: 'Ends that others run it; what they have started goes on. It stands in the audit log.',
    rule: 'owner',
    audited: true,
    args: { id: t.arg.id(name) },
    resolve: (_, { id }, { caller, services }) => services.savedWorkflows.withdraw(caller, id),
  }),
);

builder.mutationField('deleteWorkflow', (t) =>
  t.field({
    type: SavedWorkflow,
    description:
      'Removes a saved workflow with every version, and answers what it was; its name is free again. What runs goes on. It stands in the audit log.',
    rule: 'owner',
    audited: true,
    args: { id: t.arg.id(name) },
    resolve: (_, { id }, { caller, services }) => services.savedWorkflows.remove(caller, id),
  }),
);

builder.queryField('savedWorkflow', (t) =>
  t.field({
    type: SavedWorkflow,
    nullable: true,
    description: "One of the caller's own, or a published one; null: there is none.",
    rule: 'owner',
    args: { id: t.arg.id(name) },
    resolve: (_, { id }, { caller, services }) => services.savedWorkflows.find(caller, id),
  }),
);

const MOST = 100;

builder.queryField('savedWorkflows', (t) =>
  t.field({
    type: [SavedWorkflow],
    description: "The caller's own and the published ones, by name; for administrators all.",
    rule: 'owner',
    args: {
      first: t.arg.int({
        required: true,
        defaultValue: 50,
        description: `How many; at most ${MOST}.`,
      }),
      after: t.arg.id({ description: 'Only those whose names come after this one.' }),
    },
    resolve: async (_, { first, after }, { caller, services }) => [
      ...(await services.savedWorkflows.list(caller, {
        first: Math.min(Math.max(first, 1), MOST),
        after: after ?? '',
      })),
    ],
  }),
);

builder.queryField('proposedWorkflow', (t) =>
  t.field({
    type: WorkflowProposal,
    description:
      'Inputs and outputs that a graph offers by itself, to be saved as they are or changed. Saves nothing.',
    rule: 'anyone',
    args: { graph: t.arg({ type: 'JSON', required: true, description: 'A graph in API format.' }) },
    resolve: (_, { graph }, { services }) => services.savedWorkflows.propose(graph),
  }),
);
