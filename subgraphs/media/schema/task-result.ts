import type { Json, JsonObject } from '../../../platform/json.ts';
import type { Task as TaskShape, TaskOutcome } from '../domain/task.ts';
import type { Voice as VoiceShape } from '../synchronous/voices.ts';
import { Attempt } from './attempt.ts';
import { builder } from './builder.ts';
import type { MediaContext } from './context.ts';
import { Failure } from './failure.ts';
import { Media } from './media.ts';
import { PERSON_RESULTS, personResultOf, type PersonResult } from './person-results.ts';
import { Task } from './task.ts';
import { TokenUsage } from './token-usage.ts';
import { Voice } from './voice.ts';

interface DescriptionShape {
  readonly kind: 'DESCRIPTION';
  readonly prompts: readonly string[];
}

const Description = builder.objectRef<DescriptionShape>('Description').implement({
  description: 'What describeImage found.',
  fields: (t) => ({
    prompts: t.stringList({
      description: 'Prompts that would make such an image, best first.',
      resolve: ({ prompts }) => [...prompts],
    }),
  }),
});

interface ClonedVoiceShape {
  readonly kind: 'VOICE_CLONE';
  readonly voice: VoiceShape;
  readonly demoId: string | null;
}

const ClonedVoice = builder.objectRef<ClonedVoiceShape>('ClonedVoice').implement({
  description: 'What cloneVoice made.',
  fields: (t) => ({
    voice: t.field({
      type: Voice,
      description: 'The new voice, to be named in synthesizeSpeech.',
      resolve: ({ voice }) => voice,
    }),
    demo: t.field({
      type: Media,
      nullable: true,
      description: 'What it sounds like, when a text was given.',
      resolve: ({ demoId }, _, { loaders }) => (demoId === null ? null : loaders.media.load(demoId)),
    }),
  }),
});

interface AnalysisShape {
  readonly kind: 'ANALYSIS';
  readonly model: string;
  readonly provider: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

const Analysis = builder.objectRef<AnalysisShape>('Analysis').implement({
  description: 'Who made the text of analyzeMedia; the text itself is `Task.text`.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'The model that answered.' }),
    provider: t.exposeString('provider', { description: 'The upstream wire it was asked over.' }),
    usage: t.expose('usage', { type: TokenUsage, description: 'What it took.' }),
  }),
});

type ResultShape = DescriptionShape | ClonedVoiceShape | AnalysisShape | PersonResult;

const RESULTS = {
  DESCRIPTION: Description,
  VOICE_CLONE: ClonedVoice,
  ANALYSIS: Analysis,
  ...PERSON_RESULTS,
} as const;

const TaskResult = builder.unionType('TaskResult', {
  description: 'The typed result of those kinds of task that make more than files.',
  types: Object.values(RESULTS),
  resolveType: ({ kind }: ResultShape) => RESULTS[kind],
});

builder.objectFields(Task, (t) => ({
  outputs: t.field({
    type: [Media],
    description: 'What it made, in order; deleted files are left out.',
    resolve: (task, _, context) => outputsOf(task, context),
  }),
  text: t.string({
    nullable: true,
    description: 'What it made in words, for kinds that make text.',
    resolve: ({ result }) => result?.texts[0] ?? null,
  }),
  notes: t.stringList({
    description: 'What is missing in the result, and why.',
    resolve: ({ result }) => [...(result?.notes ?? [])],
  }),
  result: t.field({
    type: TaskResult,
    nullable: true,
    description: 'The typed result, for kinds that have one.',
    resolve: resultOf,
  }),
  error: t.expose('error', {
    type: Failure,
    nullable: true,
    description: 'Why it failed or was cancelled.',
  }),
  attempts: t.field({
    type: [Attempt],
    description: 'Every start at a provider, oldest first.',
    resolve: async ({ id }, _, { loaders }) => [...(await loaders.attempts.load(id))],
  }),
}));

async function resultOf(
  { id, kind, result }: TaskShape,
  _: object,
  { loaders }: MediaContext,
): Promise<ResultShape | null> {
  if (result === null) return null;
  if (kind === 'DESCRIPTION') return { kind, prompts: result.texts };
  if (kind === 'VOICE_CLONE') return clonedVoiceOf(result);
  if (kind !== 'ANALYSIS') return personResultOf(kind, result);
  const attempts = await loaders.attempts.load(id);
  return analysisOf(result, attempts.findLast(({ state }) => state === 'SUCCEEDED')?.provider ?? '');
}

function clonedVoiceOf({ facts, mediaIds }: TaskOutcome): ClonedVoiceShape {
  const id = textOf(facts['voiceId']) ?? '';
  const voice = { id, name: textOf(facts['name']) ?? id, language: textOf(facts['language']), cloned: true };
  return { kind: 'VOICE_CLONE', voice, demoId: mediaIds[0] ?? null };
}

function analysisOf({ facts }: TaskOutcome, provider: string): AnalysisShape {
  const usage = (facts['usage'] ?? {}) as JsonObject;
  return {
    kind: 'ANALYSIS',
    model: textOf(facts['model']) ?? '',
    provider: textOf(facts['provider']) ?? provider,
    usage: { inputTokens: countOf(usage['inputTokens']), outputTokens: countOf(usage['outputTokens']) },
  };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function countOf(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}

async function outputsOf({ result }: TaskShape, { loaders }: MediaContext) {
  const files = await Promise.all((result?.mediaIds ?? []).map((id) => loaders.media.load(id)));
  return files.filter((file) => file !== null);
}
