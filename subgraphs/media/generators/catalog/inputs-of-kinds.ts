import type { StepKind, WorkOf } from '../../domain/work/work.ts';

/** Members of work that say what kind it is and who does it. */
type Common = 'kind' | 'generator' | 'model';

const VIDEO = [
  'prompt',
  'negativePrompt',
  'image',
  'firstFrame',
  'lastFrame',
  'aspectRatio',
  'resolution',
  'duration',
  'seed',
] as const;

/** The inputs of each kind of work, as the API names them. */
const INPUTS: { readonly [Kind in StepKind]: readonly Exclude<keyof WorkOf<Kind>, Common>[] } = {
  IMAGE: [
    'prompt',
    'negativePrompt',
    'images',
    'mask',
    'aspectRatio',
    'resolution',
    'count',
    'seed',
    'speedMode',
  ],
  DESCRIPTION: ['image'],
  VIDEO,
  FRAME_VIDEO: VIDEO,
  SPEECH: ['text', 'voiceId', 'speed', 'pitch', 'volume', 'emotion', 'format'],
  VOICE_CLONE: ['sample', 'voiceId', 'name', 'text'],
  COMFY_WORKFLOW: ['workflow', 'workflowName', 'node'],
  ANALYSIS: ['media', 'prompt', 'system'],
  LIP_SYNC: ['image', 'video', 'audio', 'text', 'voiceId', 'prompt', 'aspectRatio', 'resolution'],
  CHARACTER: ['name', 'images'],
  CHARACTER_IMAGE: ['characterId', 'prompt', 'aspectRatio', 'resolution', 'count', 'seed'],
  PERSON_DETECTION: ['image'],
  HUMAN_VIDEO: ['image', 'audio', 'prompt', 'resolution'],
  AVATAR_SOURCE: ['video'],
  AVATAR: ['videoId', 'name'],
  AVATAR_VIDEO: ['digitalId', 'audio', 'text', 'voiceId', 'resolution'],
};

/** The inputs of chats; `image`, `audio` and `video` are what messages may hold. */
const CHAT_INPUTS = [
  'messages',
  'system',
  'temperature',
  'maxTokens',
  'tools',
  'responseFormat',
  'reasoningEffort',
  'image',
  'audio',
  'video',
] as const;

/** Every input that work of these kinds has; CHAT is one of them. */
export function inputsOf(kinds: readonly string[]): readonly string[] {
  const all: Readonly<Record<string, readonly string[]>> = { ...INPUTS, CHAT: CHAT_INPUTS };
  return [...new Set(kinds.flatMap((kind) => all[kind] ?? []))];
}
