import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { InputRef } from '../domain/inputs/input-files.ts';
import type { Task as TaskShape } from '../domain/task.ts';
import { listWorkFiles, splitWork } from '../domain/work/files.ts';
import type { Work } from '../domain/work/work.ts';
import { builder } from './builder.ts';
import type { MediaContext } from './context.ts';
import { Media } from './media.ts';
import { Task } from './task.ts';

/** What a task was asked for, and whom it belongs to. */

interface InputFileShape {
  readonly input: string;
  readonly file: InputRef;
}

const TaskInputFile = builder.objectRef<InputFileShape>('TaskInputFile').implement({
  description: 'A file that a task works on.',
  fields: (t) => ({
    input: t.exposeString('input', {
      description:
        'Name of the input that has it, such as images or firstFrame; `inputs.<node id>.<input name>` in a ComfyUI graph.',
    }),
    media: t.field({
      type: Media,
      nullable: true,
      description: 'The file, when it is one of ours and not deleted.',
      resolve: ({ file }, _, { loaders }) => ('fileId' in file ? loaders.media.load(file.fileId) : null),
    }),
    url: t.string({
      nullable: true,
      description:
        'The address that was given, for files of others; without its query, which may hold a signature.',
      resolve: ({ file }) => ('url' in file ? plainAddress(file.url) : null),
    }),
  }),
});

const TaskInput = builder.objectRef<Work>('TaskInput').implement({
  description: 'The request of a task, as it was accepted.',
  fields: (t) => ({
    prompt: t.string({
      nullable: true,
      description:
        'What to show, to say or to find out; null where there are no words, and when PROMPT_RETENTION_DAYS are over.',
      resolve: findPrompt,
    }),
    model: t.string({
      nullable: true,
      description: "The model that was requested by name; null means the generator's default.",
      resolve: (work) => ('model' in work ? (work.model ?? null) : null),
    }),
    options: t.field({
      type: 'JSON',
      description: 'Every other input that is no file, named as in the input of the mutation.',
      resolve: findOptions,
    }),
    files: t.field({
      type: [TaskInputFile],
      description: 'The files it works on, in order.',
      resolve: listInputFiles,
    }),
  }),
});

builder.objectFields(Task, (t) => ({
  input: t.field({
    type: TaskInput,
    nullable: true,
    description:
      'What was requested. Null for those who have but the id of a task without an owner, unless REST_AUTH is open.',
    extensions: reads<TaskShape>('owner', 'input'),
    resolve: (task, _, context) => (mayReadInput(task, context) ? (task.input as unknown as Work) : null),
  }),
  owner: t.string({
    nullable: true,
    description: 'Whom it belongs to: usr_... or key_...; null when it was started without a credential.',
    extensions: reads<TaskShape>('owner'),
    resolve: ({ owner }) => (owner === 'anon' ? null : owner),
  }),
}));

/** An anonymous task's id is enough to read its result; what was asked for is told to known callers only. */
export function mayReadInput({ owner }: TaskShape, { caller, authMode }: MediaContext): boolean {
  return owner !== 'anon' || authMode === 'open' || caller.kind === 'internal' || caller.kind === 'key';
}

function findPrompt(work: Work): string | null {
  if ('prompt' in work && work.prompt !== undefined) return work.prompt;
  return 'text' in work ? (work.text ?? null) : null;
}

const NAMED_ELSEWHERE = new Set(['kind', 'generator', 'model', 'prompt', 'taskType']);

function findOptions(work: Work): JsonObject {
  const inputs: object =
    work.kind === 'RECIPE'
      ? { ...work, image: undefined }
      : { ...splitWork(work).inputs, ...findHidden(work) };
  return Object.fromEntries(
    Object.entries(inputs).filter(([name, value]) => value !== undefined && !NAMED_ELSEWHERE.has(name)),
  );
}

/** The graph of a saved workflow is its owner's, who reads it there: tasks of others who call it don't tell it. */
function findHidden(work: Work): object {
  const isSaved = work.kind === 'COMFY_WORKFLOW' && work.workflowVersion !== undefined;
  return isSaved ? { workflow: undefined, outputs: undefined } : {};
}

function listInputFiles(work: Work): InputFileShape[] {
  if (work.kind === 'RECIPE') return work.image === undefined ? [] : [{ input: 'image', file: work.image }];
  return listWorkFiles(work).map(({ field, key, file }) => ({
    input: typeof key === 'string' ? `${field}.${key}` : field,
    file,
  }));
}

function plainAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
