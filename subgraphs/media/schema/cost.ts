import { decide } from '../../../platform/access/policy.ts';
import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import type { Cost as CostShape, Units } from '../domain/cost.ts';
import { isFinal, type Task as TaskShape } from '../domain/task.ts';
import { Attempt } from './attempt.ts';
import { builder } from './builder.ts';
import type { MediaContext } from './context.ts';
import { vendorOptions } from './start-mutation.ts';
import { mayReadInput } from './task-input.ts';
import { Task, TaskKind } from './task.ts';

/** What work costs: prices come from the price list (PRICES_FILE, else the bundled one). */

const CostUnits = builder.objectRef<Units>('CostUnits').implement({
  description:
    'What work took. A quantity that was not measured is null; counts that may exceed 32 bits are floats.',
  fields: (t) => ({
    pictures: t.int({ nullable: true, description: 'Images made.', resolve: ({ pictures }) => pictures }),
    seconds: t.float({
      nullable: true,
      description: 'Seconds of video or sound made.',
      resolve: ({ milliseconds }) => inSeconds(milliseconds),
    }),
    characters: t.float({
      nullable: true,
      description: 'Characters spoken.',
      resolve: ({ characters }) => characters,
    }),
    inputTokens: t.float({
      nullable: true,
      description: 'Tokens that a model read, without those that its provider had cached.',
      resolve: ({ inputTokens }) => inputTokens,
    }),
    cachedTokens: t.float({
      nullable: true,
      description: 'Tokens read that the provider had cached.',
      resolve: ({ cachedTokens }) => cachedTokens,
    }),
    outputTokens: t.float({
      nullable: true,
      description: 'Tokens that a model wrote.',
      resolve: ({ outputTokens }) => outputTokens,
    }),
    runs: t.int({ nullable: true, description: 'Pieces of work.', resolve: ({ runs }) => runs }),
    gpuSeconds: t.float({
      nullable: true,
      description: 'Seconds of computing at ComfyUI.',
      resolve: ({ gpuMilliseconds }) => inSeconds(gpuMilliseconds),
    }),
  }),
});

/** What something costs. */
export const Cost = builder.objectRef<CostShape>('Cost').implement({
  description: 'What work costs at its providers, by the price list of this installation.',
  fields: (t) => ({
    amount: t.float({
      nullable: true,
      description: 'In `currency`, exact to a millionth. Null when a price is unknown, which is never 0.',
      resolve: ({ microUnits }) => (microUnits === null ? null : microUnits / 1_000_000),
    }),
    currency: t.exposeString('currency', {
      nullable: true,
      description: 'ISO 4217 code, such as USD; null without a price list.',
    }),
    units: t.expose('units', { type: CostUnits, description: 'What was measured or is expected.' }),
    estimated: t.exposeBoolean('estimated', {
      description: 'Whether some of it is expected instead of measured.',
    }),
  }),
});

const inSeconds = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined ? null : milliseconds / 1000;

builder.objectFields(Task, (t) => ({
  cost: t.field({
    type: Cost,
    nullable: true,
    description:
      'The sum of its attempts, also of failed ones that are charged; until its end what it is expected to cost. Null for those who may not read `input`, and of what was bought for everybody but administrators.',
    extensions: reads<TaskShape>('id', 'owner', 'sold', 'state', 'input'),
    resolve: async (task, _, context) => {
      if (!mayReadCost(task, context)) return null;
      const attempts = isFinal(task.state) ? await context.loaders.attempts.load(task.id) : [];
      return context.services.estimates.ofTask(task, attempts);
    },
  }),
}));

builder.objectFields(Attempt, (t) => ({
  cost: t.field({
    type: Cost,
    nullable: true,
    description:
      'What it cost; null until it has ended and its result is stored, and to whom `Task.cost` is.',
    resolve: async ({ taskId, cost }, _, context) => {
      const task = cost === null ? null : await context.loaders.tasks.load(taskId);
      return task !== null && mayReadCost(task, context) ? cost : null;
    },
  }),
}));

/** What somebody has bought cost the seller, who is an administrator. */
function mayReadCost(task: TaskShape, context: MediaContext): boolean {
  if (!mayReadInput(task, context)) return false;
  return !task.sold || decide('admin', context.caller, context.authMode) === 'allow';
}

const EstimateInput = builder.inputType('EstimateInput', {
  description: 'The inputs that prices depend on, named as in the inputs of the mutations.',
  fields: (t) => ({
    kind: t.field({ type: TaskKind, required: true, description: 'What is to be made.' }),
    generator: t.string({ description: 'Who makes it; needed where the mutation needs it.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    taskType: t.string({ description: 'Task type of the video template, for recipes.' }),
    hasImage: t.boolean({ description: 'Whether a recipe begins with an image.' }),
    text: t.string({ description: 'What is to be said.' }),
    count: t.int({ description: 'How many images.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    duration: t.float({ description: 'Seconds of a video.' }),
    quality: t.string({ description: 'How well it is made, in the words of the model.' }),
    generateAudio: t.boolean({ description: 'Whether a video has sound; absent: as its model makes it.' }),
    batch: t.boolean({
      description: "Whether an image may wait for its vendor's batches, at half the price.",
    }),
    ...vendorOptions(t),
  }),
});

builder.queryField('estimateCost', (t) =>
  t.field({
    type: Cost,
    description: 'What work is expected to cost, before anything is spent. Nothing is started.',
    rule: 'anyone',
    args: { input: t.arg({ type: EstimateInput, required: true, description: 'The work.' }) },
    resolve: (_, { input }, { services }) => services.estimates.estimate(input),
  }),
);
