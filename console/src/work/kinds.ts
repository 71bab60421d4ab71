import type { Kind } from '@kiln/client';

/** The kinds of work: with which members each is started, and which of them it needs. */

/** How a kind of work is started, and what its form shows. */
export interface Work {
  /** Members of its input that a form shows, in this order, as far as the model takes them. */
  readonly members: readonly string[];
  readonly required: readonly string[];
  /** The input names no generator and no model: there is one. */
  readonly isAlone?: boolean;
  /** The members are arguments of the mutation, not of an input. */
  readonly isFlat?: boolean;
  /** The input takes no options in the names of a vendor. */
  readonly takesNoOptions?: boolean;
}

/** Every kind of work that has a form. */
export const WORK = {
  IMAGE: {
    members: [
      'prompt',
      'negativePrompt',
      'images',
      'mask',
      'aspectRatio',
      'resolution',
      'count',
      'speedMode',
      'seed',
    ],
    required: ['prompt'],
  },
  CHARACTER_IMAGE: {
    members: ['prompt', 'characterId', 'aspectRatio', 'resolution', 'count', 'seed'],
    required: ['prompt'],
    isAlone: true,
  },
  VIDEO: {
    members: ['prompt', 'negativePrompt', 'image', 'aspectRatio', 'resolution', 'duration', 'seed'],
    required: ['prompt'],
  },
  FRAME_VIDEO: {
    members: [
      'prompt',
      'negativePrompt',
      'firstFrame',
      'lastFrame',
      'aspectRatio',
      'resolution',
      'duration',
      'seed',
    ],
    required: ['firstFrame', 'lastFrame'],
  },
  SPEECH: {
    members: ['text', 'voiceId', 'speed', 'pitch', 'volume', 'emotion', 'format'],
    required: ['text', 'voiceId'],
  },
  VOICE_CLONE: {
    members: ['sample', 'name', 'text'],
    required: ['sample'],
  },
  LIP_SYNC: {
    members: ['image', 'video', 'audio', 'text', 'voiceId', 'prompt', 'aspectRatio', 'resolution'],
    required: [],
  },
  HUMAN_VIDEO: {
    members: ['image', 'audio', 'prompt', 'resolution'],
    required: ['image', 'audio'],
    isAlone: true,
  },
  COMFY_WORKFLOW: {
    members: ['workflowName'],
    required: ['workflowName'],
    isAlone: true,
  },
  ANALYSIS: {
    members: ['media', 'prompt', 'system'],
    required: ['media', 'prompt'],
  },
  DESCRIPTION: {
    members: ['image'],
    required: ['image'],
    isFlat: true,
    takesNoOptions: true,
  },
  PERSON_DETECTION: {
    members: ['image'],
    required: ['image'],
    isAlone: true,
    isFlat: true,
    takesNoOptions: true,
  },
  CHARACTER: {
    members: ['name', 'images'],
    required: ['name', 'images'],
    isAlone: true,
  },
  AVATAR_SOURCE: {
    members: ['source'],
    required: ['source'],
    isAlone: true,
    isFlat: true,
    takesNoOptions: true,
  },
  AVATAR: {
    members: ['videoId', 'name'],
    required: ['videoId'],
    isAlone: true,
  },
  AVATAR_VIDEO: {
    members: ['digitalId', 'audio', 'text', 'voiceId'],
    required: ['digitalId'],
    isAlone: true,
  },
} satisfies Readonly<Record<string, Work>>;

/** A kind of task that a form can start. */
export type WorkKind = keyof typeof WORK;

/** What a kind is called by @kiln/client: `frameVideo` for FRAME_VIDEO. */
export function kindName(kind: WorkKind): Kind {
  return kind.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as Kind;
}

/** Shapes that are offered where a model names none of its own. */
export const COMMON_RATIOS: readonly string[] = [
  '1:1',
  '3:2',
  '4:3',
  '16:9',
  '21:9',
  '2:3',
  '3:4',
  '4:5',
  '9:16',
];

/** Speeds that are offered where a model names none of its own. */
export const SPEED_MODES: readonly string[] = ['fast', 'turbo', 'relax'];
