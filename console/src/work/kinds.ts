import {
  AnalyzeDocument,
  DescribeDocument,
  DetectPersonDocument,
  MakeAvatarDocument,
  MakeAvatarVideoDocument,
  MakeCharacterDocument,
  MakeCharacterImageDocument,
  MakeFrameVideoDocument,
  MakeHumanVideoDocument,
  MakeImageDocument,
  MakeLipSyncDocument,
  MakeSpeechDocument,
  MakeVideoDocument,
  MakeVoiceDocument,
  RunComfyWorkflowDocument,
  UploadAvatarSourceDocument,
} from '../api/documents/studio.ts';

/** The kinds of work: which mutation starts each, with which members, and which of them it needs. */

/** How a kind of work is started, and what its form shows. */
export interface Work {
  readonly document: unknown;
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
    document: MakeImageDocument,
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
    document: MakeCharacterImageDocument,
    members: ['prompt', 'characterId', 'aspectRatio', 'resolution', 'count', 'seed'],
    required: ['prompt'],
    isAlone: true,
  },
  VIDEO: {
    document: MakeVideoDocument,
    members: ['prompt', 'negativePrompt', 'image', 'aspectRatio', 'resolution', 'duration', 'seed'],
    required: ['prompt'],
  },
  FRAME_VIDEO: {
    document: MakeFrameVideoDocument,
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
    document: MakeSpeechDocument,
    members: ['text', 'voiceId', 'speed', 'pitch', 'volume', 'emotion', 'format'],
    required: ['text', 'voiceId'],
  },
  VOICE_CLONE: {
    document: MakeVoiceDocument,
    members: ['sample', 'name', 'text'],
    required: ['sample'],
  },
  LIP_SYNC: {
    document: MakeLipSyncDocument,
    members: ['image', 'video', 'audio', 'text', 'voiceId', 'prompt', 'aspectRatio', 'resolution'],
    required: [],
  },
  HUMAN_VIDEO: {
    document: MakeHumanVideoDocument,
    members: ['image', 'audio', 'prompt', 'resolution'],
    required: ['image', 'audio'],
    isAlone: true,
  },
  COMFY_WORKFLOW: {
    document: RunComfyWorkflowDocument,
    members: ['workflowName'],
    required: ['workflowName'],
    isAlone: true,
  },
  ANALYSIS: {
    document: AnalyzeDocument,
    members: ['media', 'prompt', 'system'],
    required: ['media', 'prompt'],
  },
  DESCRIPTION: {
    document: DescribeDocument,
    members: ['image'],
    required: ['image'],
    isFlat: true,
    takesNoOptions: true,
  },
  PERSON_DETECTION: {
    document: DetectPersonDocument,
    members: ['image'],
    required: ['image'],
    isAlone: true,
    isFlat: true,
    takesNoOptions: true,
  },
  CHARACTER: {
    document: MakeCharacterDocument,
    members: ['name', 'images'],
    required: ['name', 'images'],
    isAlone: true,
  },
  AVATAR_SOURCE: {
    document: UploadAvatarSourceDocument,
    members: ['source'],
    required: ['source'],
    isAlone: true,
    isFlat: true,
    takesNoOptions: true,
  },
  AVATAR: {
    document: MakeAvatarDocument,
    members: ['videoId', 'name'],
    required: ['videoId'],
    isAlone: true,
  },
  AVATAR_VIDEO: {
    document: MakeAvatarVideoDocument,
    members: ['digitalId', 'audio', 'text', 'voiceId'],
    required: ['digitalId'],
    isAlone: true,
  },
} satisfies Readonly<Record<string, Work>>;

/** A kind of task that a form can start. */
export type WorkKind = keyof typeof WORK;
