import {
  missingForWorkflow,
  needsOfWorkflow,
  type Parameter as ParameterShape,
  PARAMETER_TYPES,
  type Proposal,
  type SavedWorkflow as SavedWorkflowShape,
  type WorkflowOutput as WorkflowOutputShape,
  type WorkflowVersion as WorkflowVersionShape,
} from '../comfy-workflows/saved/workflow.ts';
import { builder } from './builder.ts';

/** ComfyUI graphs as functions: saved under a name with typed inputs and outputs, published, rolled back. */

/** Types of inputs. */
export const ParameterType = builder.enumType('WorkflowInputType', {
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

/** A saved graph. */
export const SavedWorkflow = builder.objectRef<SavedWorkflowShape>('SavedWorkflow').implement({
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

/** What a graph offers. */
export const WorkflowProposal = builder.objectRef<Proposal>('WorkflowProposal').implement({
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
