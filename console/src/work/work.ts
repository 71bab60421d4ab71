import type { Task } from '@kiln/client';

import type { ModelsQuery } from '../api/documents/operations.ts';
import { kiln } from '../api/kiln.ts';
import { sendOnce } from '../api/send-once.ts';
import type { IconName } from '../parts/icons.tsx';
import { kindName, type Work, WORK, type WorkKind } from './kinds.ts';
import { type OptionFields, makeOptionFields, sentOptions } from './options/fields.ts';
import { takenBy } from './taken.ts';

/** What the Studio can start, with which of the models, and how a filled form becomes a task. */

/** A model as the API lists it. */
export type Model = ModelsQuery['models'][number];

/** A tab of the Studio. */
export type Tab =
  | 'image'
  | 'video'
  | 'speech'
  | 'lipsync'
  | 'avatar'
  | 'comfy'
  | 'analysis'
  | 'chat'
  | 'templates';

/** What a form holds, by member of the input. Files are {id, url, contentType, bytes}. */
export type Values = Readonly<Record<string, unknown>>;

/** The tabs in order, with the kinds that each starts; chat is no task, templates have forms of their own. */
export const TABS: readonly {
  readonly tab: Tab;
  readonly icon: IconName;
  readonly kinds: readonly WorkKind[];
}[] = [
  { tab: 'image', icon: 'image', kinds: ['IMAGE', 'CHARACTER_IMAGE', 'CHARACTER'] },
  { tab: 'video', icon: 'video', kinds: ['VIDEO', 'FRAME_VIDEO'] },
  { tab: 'speech', icon: 'speech', kinds: ['SPEECH', 'VOICE_CLONE'] },
  { tab: 'lipsync', icon: 'lipsync', kinds: ['LIP_SYNC'] },
  { tab: 'avatar', icon: 'avatar', kinds: ['HUMAN_VIDEO', 'AVATAR_SOURCE', 'AVATAR', 'AVATAR_VIDEO'] },
  { tab: 'comfy', icon: 'comfy', kinds: ['COMFY_WORKFLOW'] },
  { tab: 'analysis', icon: 'analysis', kinds: ['ANALYSIS', 'DESCRIPTION', 'PERSON_DETECTION'] },
  { tab: 'chat', icon: 'chat', kinds: [] },
  { tab: 'templates', icon: 'shop', kinds: [] },
];

/** One thing to choose in the picker: a model for one kind of task. */
export interface Choice {
  readonly key: string;
  readonly kind: WorkKind;
  readonly model: Model;
}

/** The choices of a tab, in the order of the API. */
export function listChoices(tab: Tab, models: readonly Model[]): readonly Choice[] {
  const kinds = TABS.find((one) => one.tab === tab)?.kinds ?? [];
  return kinds.flatMap((kind) =>
    models
      .filter((model) => model.kinds.includes(kind))
      .map((model) => ({ key: makeChoiceKey(kind, model), kind, model })),
  );
}

/** What a choice is remembered by. */
export function makeChoiceKey(kind: WorkKind, { generator, model }: Model): string {
  return `${kind} ${generator} ${model}`;
}

/** The tab of a kind of task. */
export function findTab(kind: string): Tab {
  return TABS.find(({ kinds }) => (kinds as readonly string[]).includes(kind))?.tab ?? 'image';
}

/** The members of the input of a kind of task; null when no form starts it. */
export function listMembersOfKind(kind: string): readonly string[] | null {
  return kind in WORK ? WORK[kind as WorkKind].members : null;
}

/** The members that a form shows for this choice. */
export function listMembers({ kind, model }: Choice): readonly string[] {
  return WORK[kind].members.filter((member) => model.inputs.includes(member));
}

/** The fields of what the model takes besides, in the names of its vendor; held as `options`. */
export function optionFields(choice: Choice): OptionFields {
  const { kind, model } = choice;
  const schema = (WORK[kind] as Work).takesNoOptions === true ? null : model.optionsSchema;
  return makeOptionFields({ kind, schema, members: listMembers(choice) });
}

/** Members that must be filled before the work can start. */
export function listMissing(choice: Choice, values: Values): readonly string[] {
  const { kind, model } = choice;
  // A saved graph has its name as a model.
  const required = WORK[kind].required.filter(
    (name) => name !== 'workflowName' || model.inputs.includes(name),
  );
  const names = new Set<string>([...required, ...model.needs]);
  const options = (values['options'] ?? {}) as Values;
  const { first, more } = optionFields(choice);
  const needed = [...first, ...more].filter(
    ({ isRequired, path: [name = ''] }) => isRequired === true && isBlank(options[name]),
  );
  return [
    ...[...names].filter((name) => isBlank(values[name])),
    ...needed.map(({ path: [name = ''] }) => name),
  ];
}

function isBlank(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** Starts one task; the one of before where its answer was lost. */
export function startTask(choice: Choice, values: Values): Promise<Task> {
  const kind = kindName(choice.kind);
  const input = makeInput(choice, values);
  return sendOnce({ kind, input }, (idempotencyKey) => kiln.generate(kind, input, { idempotencyKey }));
}

/** What is filled of what the form shows, as the mutation takes it. */
export function makeInput(choice: Choice, values: Values): Record<string, unknown> {
  const work: Work = WORK[choice.kind];
  const taken = takenBy(choice.model, values);
  const shown = listMembers(choice).filter((member) => !isBlank(taken[member]));
  const filled = shown.map((member) => [member, toInput(taken[member])] as const);
  const own =
    work.isAlone === true
      ? []
      : [
          ['generator', choice.model.generator],
          ...(work.isFlat === true ? [] : [['model', choice.model.model] as const]),
        ];
  const inputs = choice.kind === 'COMFY_WORKFLOW' ? readGraphInput(choice, values) : [];
  const options = sentOptions(values['options'], optionFields(choice));
  const besides = options === undefined ? [] : [['options', options]];
  return Object.fromEntries([...own, ...filled, ...inputs, ...besides]) as Record<string, unknown>;
}

/** Which graph runs: a saved one is a model whose inputs are options, another one is named and has inputs of its own. */
function readGraphInput({ model }: Choice, values: Values): readonly (readonly [string, unknown])[] {
  const isSaved = !model.inputs.includes('workflowName');
  return isSaved ? [['model', model.model]] : [['inputs', comfyInputs(values)]];
}

/** Values of a ComfyUI workflow's own inputs are held below `comfy.`. */
function comfyInputs(values: Values): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => name.startsWith('comfy.') && !isBlank(value))
      .map(([name, value]) => [name.slice('comfy.'.length), toInput(value)]),
  );
}

function toInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toInput);
  if (typeof value === 'object' && value !== null && 'id' in value) return { fileId: value.id };
  return value;
}

/** What the form of a template holds as its parameters: what is filled in, files by their address. */
export function makeParameters(values: Values): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      if (isBlank(value)) return [];
      return [
        [name, typeof value === 'object' && value !== null && 'url' in value ? value.url : value] as const,
      ];
    }),
  );
}

/** How many tasks to start for so many results: models that count do it in one. */
export function tasksFor({ model }: Choice, count: number): number {
  return model.inputs.includes('count') ? 1 : count;
}

/** A value of a form as the text of a control: words and numbers, else nothing. */
export function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
