import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import type { Attempt as AttemptShape } from '../domain/attempt.ts';
import type { Task as TaskShape, TaskOutcome } from '../domain/task.ts';
import { readNote } from '../domain/words/notes.ts';
import type { StoredFile } from '../files/files.ts';
import type { ReadTask } from '../tasks/rules/task-service.ts';
import { Attempt, Failure } from './attempt.ts';
import { builder } from './builder.ts';
import type { MediaContext } from './context.ts';
import { loadFiles, Media } from './media.ts';
import { TaskNote } from './task-words.ts';
import { Task } from './task.ts';
import { TokenUsage } from './token-usage.ts';
import { Voice } from './voice.ts';

/** A task with a result; typed results read their fields from it. */
type FinishedTask = TaskShape & { readonly result: TaskOutcome };

const Description = builder.objectRef<FinishedTask>('Description').implement({
  description: 'What describeImage found.',
  fields: (t) => ({
    prompts: t.stringList({
      description: 'Prompts that would make such an image, best first.',
      resolve: ({ result }) => [...result.texts],
    }),
  }),
});

const ClonedVoice = builder.objectRef<FinishedTask>('ClonedVoice').implement({
  description: 'What cloneVoice made.',
  fields: (t) => ({
    voice: t.field({
      type: Voice,
      description: 'The new voice, to be named in synthesizeSpeech.',
      resolve: ({ result: { facts } }) => {
        const id = readText(facts['voiceId']) ?? '';
        return {
          id,
          name: readText(facts['name']) ?? id,
          language: readText(facts['language']),
          cloned: true,
        };
      },
    }),
    demo: t.field({
      type: Media,
      nullable: true,
      description: 'A demo of the voice, when a text was sent.',
      resolve: ({ result: { mediaIds } }, _, { loaders }) =>
        mediaIds[0] === undefined ? null : loaders.media.load(mediaIds[0]),
    }),
  }),
});

const Analysis = builder.objectRef<FinishedTask>('Analysis').implement({
  description: 'Who made the text of analyzeMedia; the text itself is `Task.text`.',
  fields: (t) => ({
    model: t.string({
      description: 'The model that answered.',
      resolve: ({ result: { facts } }) => readText(facts['model']) ?? '',
    }),
    provider: t.string({
      description: 'The provider that answered.',
      resolve: async ({ id, result: { facts } }, _, { loaders }) => {
        const attempts = await loaders.attempts.load(id);
        return readText(facts['provider']) ?? deciding(attempts)?.provider ?? '';
      },
    }),
    usage: t.field({
      type: TokenUsage,
      description: 'The tokens it used.',
      resolve: ({ result: { facts } }) => {
        const { inputTokens, outputTokens } = (facts['usage'] ?? {}) as JsonObject;
        return { inputTokens: readCount(inputTokens), outputTokens: readCount(outputTokens) };
      },
    }),
  }),
});

const Character = builder.objectRef<FinishedTask>('Character').implement({
  description: 'What createCharacter made.',
  fields: (t) => ({
    characterId: t.id({
      description: 'Names the person in generateCharacterImage.',
      resolve: ({ result }) => readId(result.facts['characterId']),
    }),
  }),
});

const AvatarSource = builder.objectRef<FinishedTask>('AvatarSource').implement({
  description: 'What uploadAvatarSource made.',
  fields: (t) => ({
    videoId: t.id({
      description: 'Names the video in createAvatar.',
      resolve: ({ result }) => readId(result.facts['videoId']),
    }),
  }),
});

const Avatar = builder.objectRef<FinishedTask>('Avatar').implement({
  description: 'What createAvatar made.',
  fields: (t) => ({
    digitalId: t.id({
      description: 'Names the avatar in generateAvatarVideo.',
      resolve: ({ result }) => readId(result.facts['digitalId']),
    }),
  }),
});

const NO_VERDICT = 'the provider did not say whether there is somebody';

const PersonDetection = builder.objectRef<FinishedTask>('PersonDetection').implement({
  description: 'What detectPerson found.',
  fields: (t) => ({
    hasPerson: t.boolean({
      nullable: true,
      description: 'Whether there is a person or a figure in the image; null when that is unknown.',
      resolve: ({ result: { facts } }) =>
        typeof facts['hasPerson'] === 'boolean' ? facts['hasPerson'] : null,
    }),
    reason: t.string({
      nullable: true,
      description: 'Why, in words; always there with null.',
      resolve: ({ result: { facts } }) =>
        readText(facts['reason']) || (typeof facts['hasPerson'] === 'boolean' ? null : NO_VERDICT),
    }),
    subjects: t.field({
      type: ['JSON'],
      description: 'Who was found, as the provider reports it.',
      resolve: ({ result: { facts } }) => (Array.isArray(facts['subjects']) ? facts['subjects'] : []),
    }),
  }),
});

interface MadeByNode {
  readonly node: string | null;
  readonly mediaId?: string;
  readonly text?: string;
}

const ComfyOutput = builder.objectRef<MadeByNode>('ComfyOutput').implement({
  description: 'A file or a text that a node of a ComfyUI graph made.',
  fields: (t) => ({
    node: t.exposeString('node', {
      nullable: true,
      description: 'The key of the node in the graph; null for work of releases that did not keep it.',
    }),
    media: t.field({
      type: Media,
      nullable: true,
      description: 'The file; null for a text, and once it is deleted.',
      resolve: ({ mediaId }, _, { loaders }) => (mediaId === undefined ? null : loaders.media.load(mediaId)),
    }),
    text: t.string({
      nullable: true,
      description: 'The text; null for a file.',
      resolve: ({ text }) => text ?? null,
    }),
  }),
});

const ComfyResult = builder.objectRef<FinishedTask>('ComfyResult').implement({
  description: 'What runComfyWorkflow made, by the nodes of its graph.',
  fields: (t) => ({
    outputs: t.field({
      type: [ComfyOutput],
      description: 'The files in the order of `Task.outputs`, then the texts in that of `Task.texts`.',
      resolve: ({ result: { mediaIds, texts, facts } }) => [
        ...mediaIds.map((mediaId, index) => ({ node: nodeAt(facts['fileNodes'], index), mediaId })),
        ...texts.map((text, index) => ({ node: nodeAt(facts['textNodes'], index), text })),
      ],
    }),
  }),
});

/** The typed result of each kind that has one. */
const RESULTS: Readonly<Partial<Record<TaskShape['kind'], typeof Description>>> = {
  DESCRIPTION: Description,
  VOICE_CLONE: ClonedVoice,
  ANALYSIS: Analysis,
  CHARACTER: Character,
  AVATAR_SOURCE: AvatarSource,
  AVATAR: Avatar,
  PERSON_DETECTION: PersonDetection,
  COMFY_WORKFLOW: ComfyResult,
};

const TaskResult = builder.unionType('TaskResult', {
  description: 'The typed result of those kinds of task that make more than files.',
  types: Object.values(RESULTS),
  resolveType: ({ kind }: FinishedTask) => RESULTS[kind],
});

builder.objectFields(Task, (t) => ({
  outputs: t.field({
    type: [Media],
    description: 'What it made, in order; deleted files are left out.',
    extensions: reads<ReadTask>('result', 'files'),
    resolve: (task, _, context) => (task.files === undefined ? loadOutputs(task, context) : [...task.files]),
  }),
  text: t.string({
    nullable: true,
    description: 'The text it made, for kinds that make text; the first of `texts`.',
    extensions: reads<ReadTask>('result'),
    resolve: ({ result }) => result?.texts[0],
  }),
  texts: t.stringList({
    description:
      'Every text it made, in order: an analysis has one, a ComfyUI graph one per text that it shows.',
    extensions: reads<ReadTask>('result'),
    resolve: ({ result }) => [...(result?.texts ?? [])],
  }),
  notes: t.stringList({
    description: 'What is missing in the result or met only approximately, and why, in English sentences.',
    extensions: reads<ReadTask>('result'),
    resolve: ({ result }) => [...(result?.notes ?? [])],
  }),
  noteInfos: t.field({
    type: [TaskNote],
    description:
      'The same notes in the same order as codes with their values, for programs and other languages.',
    extensions: reads<ReadTask>('result'),
    resolve: ({ result }) => (result?.notes ?? []).map(readNote),
  }),
  result: t.field({
    type: TaskResult,
    nullable: true,
    description: 'The typed result, for kinds that have one.',
    extensions: reads<ReadTask>('id', 'kind', 'result'),
    resolve: (task) => (task.result !== null && task.kind in RESULTS ? (task as FinishedTask) : null),
  }),
  error: t.expose('error', {
    type: Failure,
    nullable: true,
    description: 'Why it failed or was cancelled.',
  }),
}));

builder.objectFields(Task, (t) => ({
  provider: t.string({
    nullable: true,
    description:
      'The upstream wire of its newest attempt, of a successful one where there is one; null before the first.',
    extensions: reads<ReadTask>('id', 'doneBy'),
    resolve: (task, _, context) => readDoneBy(task, context, ({ provider }) => provider),
  }),
  model: t.string({
    nullable: true,
    description: 'The model of that attempt.',
    extensions: reads<ReadTask>('id', 'doneBy'),
    resolve: (task, _, context) => readDoneBy(task, context, ({ model }) => model),
  }),
  attempts: t.field({
    type: [Attempt],
    description: 'Every start at a provider, oldest first.',
    extensions: reads<ReadTask>('id'),
    resolve: async ({ id }, _, { loaders }) => [...(await loaders.attempts.load(id))],
  }),
}));

function loadOutputs({ result }: ReadTask, { loaders }: MediaContext): Promise<StoredFile[]> {
  return loadFiles(loaders, result?.mediaIds ?? []);
}

/** Reads of the attempt that made a task's result, at once where it was read with the task. */
function readDoneBy<Value>(
  { id, doneBy }: ReadTask,
  { loaders }: MediaContext,
  read: (attempt: Pick<AttemptShape, 'provider' | 'model'>) => Value,
): Value | null | Promise<Value | null> {
  const readFrom = (attempt: Parameters<typeof read>[0] | null | undefined) =>
    attempt === null || attempt === undefined ? null : read(attempt);
  return doneBy === undefined
    ? loaders.attempts.load(id).then((attempts) => readFrom(deciding(attempts)))
    : readFrom(doneBy);
}

/** The attempt that made the result, else the newest one. */
function deciding(attempts: readonly AttemptShape[]): AttemptShape | undefined {
  return attempts.findLast(({ state }) => state === 'SUCCEEDED') ?? attempts.at(-1);
}

function readText(fact: Json | undefined): string | null {
  return typeof fact === 'string' ? fact : null;
}

function nodeAt(nodes: Json | undefined, index: number): string | null {
  return Array.isArray(nodes) ? readText(nodes[index] as Json | undefined) : null;
}

function readId(fact: Json | undefined): string {
  return typeof fact === 'string' || typeof fact === 'number' ? String(fact) : '';
}

function readCount(fact: Json | undefined): number {
  return typeof fact === 'number' && Number.isSafeInteger(fact) ? fact : 0;
}
