import { missingForWorkflow, needsOfWorkflow } from '../comfy-workflows/saved/needs.ts';
import {
  type Parameter as ParameterShape,
  PARAMETER_TYPES,
  type Proposal,
  type SavedWorkflow as SavedWorkflowShape,
  type WorkflowOutput as WorkflowOutputShape,
  type WorkflowVersion as WorkflowVersionShape,
} from '../comfy-workflows/saved/workflow.ts';
import { builder } from './builder.ts';

/** ComfyUI graphs as functions: saved under a name with typed inputs and outputs, published, rolled back. */

const ParameterType = builder.enumType('WorkflowInputType', {
  description: 'What an input of a saved workflow takes.',
  values: Object.fromEntries(
    PARAMETER_TYPES.map((type) => [
      type.toUpperCase(),
      { value: type, description: type === 'file' ? 'A file: its address or Media id.' : `A ${type}.` },
    ]),
  ) as Record<Uppercase<ParameterShape['type']>, { value: ParameterShape['type']; description: string }>,
});

const Parameter = builder.objectRef<ParameterShape>('WorkflowParameter').implement({
  description: 'An input of a saved workflow.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What callers name it.' }),
    type: t.expose('type', { type: ParameterType, description: 'What it takes.' }),
    required: t.exposeBoolean('required', { description: 'Whether a value has to be sent.' }),
    default: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value when none is sent; null: the one that the graph has.',
      resolve: ({ default: value }) => value ?? null,
    }),
    minimum: t.float({
      nullable: true,
      description: 'The least it may be; null: any.',
      resolve: ({ minimum }) => minimum ?? null,
    }),
    maximum: t.float({
      nullable: true,
      description: 'The most it may be; null: any.',
      resolve: ({ maximum }) => maximum ?? null,
    }),
    multipleOf: t.int({
      nullable: true,
      description: 'It has to be a multiple of this; null: any.',
      resolve: ({ multipleOf }) => multipleOf ?? null,
    }),
    values: t.stringList({
      nullable: true,
      description: 'The only texts it may be; null: any.',
      resolve: ({ values }) => (values === undefined ? null : [...values]),
    }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    at: t.stringList({
      description: 'Where its value goes in the graph: `<node id>.<input name>`.',
      resolve: ({ at }) => [...at],
    }),
  }),
});

const Output = builder.objectRef<WorkflowOutputShape>('WorkflowOutput').implement({
  description: 'What a saved workflow makes.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it is called.' }),
    node: t.exposeString('node', { description: 'Id of the node whose files or texts these are.' }),
    type: t.exposeString('type', { description: 'image, video, audio, text or file.' }),
  }),
});

const WorkflowNeeds = builder
  .objectRef<{ readonly classes: readonly string[]; readonly models: readonly string[] }>('WorkflowNeeds')
  .implement({
    description: 'What a machine must have to run a graph.',
    fields: (t) => ({
      classes: t.stringList({ description: 'Node classes.', resolve: ({ classes }) => [...classes] }),
      models: t.stringList({ description: 'Model files.', resolve: ({ models }) => [...models] }),
    }),
  });

type VersionOf = WorkflowVersionShape & { readonly workflow: SavedWorkflowShape };

const WorkflowVersion = builder.objectRef<VersionOf>('WorkflowVersion').implement({
  description: 'One version of a saved workflow. It never changes.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'From 1.' }),
    published: t.boolean({
      description: 'Whether it is the one that everybody runs.',
      resolve: ({ number, workflow }) => number === workflow.published,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was saved.' }),
    inputs: t.field({
      type: [Parameter],
      description: 'What it takes.',
      resolve: ({ inputs }) => [...inputs],
    }),
    outputs: t.field({
      type: [Output],
      description: 'What it makes.',
      resolve: ({ outputs }) => [...outputs],
    }),
    graph: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The graph, in API format; null for those who may not change it.',
      resolve: ({ graph, workflow }) => (workflow.isMine ? graph : null),
    }),
    needs: t.field({
      type: WorkflowNeeds,
      description: 'What a machine must have to run it.',
      resolve: ({ graph }) => needsOfWorkflow(graph),
    }),
    missing: t.stringList({
      description:
        'What no machine has of it, asked now, by name; empty: some machine can run it, or none tells. Null for those who may not change it.',
      nullable: true,
      resolve: async ({ graph, workflow }, _, { services, signal }) =>
        workflow.isMine ? [...(await missingForWorkflow(services.registry, graph, signal))] : null,
    }),
  }),
});

const SavedWorkflow = builder.objectRef<SavedWorkflowShape>('SavedWorkflow').implement({
  description: 'A ComfyUI graph as a function: saved under a name, version by version.',
  fields: (t) => ({
    id: t.exposeID('name', { description: 'Its name, as `workflowName` takes it.' }),
    model: t.string({
      description: 'What it is called as a model: `workflow/` and the name.',
      resolve: ({ name }) => `workflow/${name}`,
    }),
    owner: t.string({
      nullable: true,
      description: 'Who saved it first: usr_... or key_...; null for those who may not change it.',
      resolve: ({ owner, isMine }) => (isMine ? owner : null),
    }),
    mine: t.exposeBoolean('isMine', {
      description: 'Whether the caller may change it: its owner, an administrator.',
    }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    category: t.exposeString('category', {
      description: 'What it makes first: image, video, audio or text.',
    }),
    published: t.exposeInt('published', {
      nullable: true,
      description: 'Number of the version that everybody runs; null: only its owner runs it.',
    }),
    previous: t.exposeInt('previous', {
      nullable: true,
      description: 'Number of the version that `rollBackWorkflow` publishes again; null: none.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first saved.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    versions: t.field({
      type: [WorkflowVersion],
      description: 'Newest first: all of one that the caller may change, of others the published one.',
      resolve: (workflow) => workflow.versions.map((version) => ({ ...version, workflow })),
    }),
  }),
});

const ProposalRef = builder.objectRef<Proposal>('WorkflowProposal').implement({
  description: 'Inputs and outputs that a graph offers by itself.',
  fields: (t) => ({
    inputs: t.field({
      type: [Parameter],
      description: 'Prompts, seeds, sizes, images and models that are in the graph.',
      resolve: ({ inputs }) => [...inputs],
    }),
    outputs: t.field({
      type: [Output],
      description: 'The nodes that it ends in.',
      resolve: ({ outputs }) => [...outputs],
    }),
  }),
});

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
    type: ProposalRef,
    description:
      'Inputs and outputs that a graph offers by itself, to be saved as they are or changed. Saves nothing.',
    rule: 'anyone',
    args: { graph: t.arg({ type: 'JSON', required: true, description: 'A graph in API format.' }) },
    resolve: (_, { graph }, { services }) => services.savedWorkflows.propose(graph),
  }),
);
