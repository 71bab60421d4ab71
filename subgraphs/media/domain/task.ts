import type { Json, JsonObject } from '../../../platform/json.ts';
import type { Failure } from './failure.ts';

/** The words of a task (README glossary). Pure: no SQL, no clock, no GraphQL here. */

/** Every state of a task. */
export const taskStates = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;

/** Where a task stands; the last three are for good. */
export type TaskState = (typeof taskStates)[number];

/** What a task makes. */
const taskKinds = [
  'RECIPE',
  'IMAGE',
  'DESCRIPTION',
  'VIDEO',
  'SPEECH',
  'VOICE_CLONE',
  'COMFY_WORKFLOW',
  'ANALYSIS',
  'FRAME_VIDEO',
  'LIP_SYNC',
  'CHARACTER',
  'CHARACTER_IMAGE',
  'PERSON_DETECTION',
  'HUMAN_VIDEO',
  'AVATAR_SOURCE',
  'AVATAR',
  'AVATAR_VIDEO',
] as const;

/** What a task makes. */
export type TaskKind = (typeof taskKinds)[number];

/** A task as everything outside tasks/ sees it. */
export interface Task {
  readonly id: string;
  readonly owner: string;
  readonly kind: TaskKind;
  readonly generator: string;
  /** Task type of the video template, for recipes. */
  readonly taskType: string | null;
  /** Whether any attempt ran on the sandbox instead of a real upstream. */
  readonly sandbox: boolean;
  readonly input: JsonObject;
  readonly state: TaskState;
  readonly stage: string;
  /** 0 to 100; never falls. */
  readonly progress: number;
  /** True when the upstream reports no progress and the number is our estimate. */
  readonly progressEstimated: boolean;
  readonly lastSeq: number;
  readonly cancelRequestedAt: Date | null;
  readonly error: Failure | null;
  readonly result: TaskOutcome | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

/** What a finished task made. Media ids in order; texts for descriptions and analyses; notes say what is missing and why. */
export interface TaskOutcome {
  readonly mediaIds: readonly string[];
  readonly texts: readonly string[];
  readonly notes: readonly string[];
  /** Facts for the typed results (Description, Character, ...), by kind. */
  readonly facts: JsonObject;
}

/** Which tasks of a list are wanted; what is absent does not filter. */
export interface TaskFilter {
  readonly states?: readonly TaskState[];
  readonly kinds?: readonly TaskKind[];
  readonly generator?: string;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
}

/** A page of tasks, newest first. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasNextPage: boolean;
}

/** One numbered entry of a task's log. */
export interface TaskEvent {
  readonly taskId: string;
  readonly seq: number;
  readonly at: Date;
  readonly state: TaskState;
  readonly stage: string;
  readonly progress: number;
  readonly progressEstimated: boolean;
}

/** An input file of a submission: one of ours by id, or a foreign URL the worker will fetch under the outbound rule. */
export type InputRef = { readonly fileId: string } | { readonly url: string };

/** One unit of work at a generator, as stored in the task's input or produced by a recipe. */
export type StepInput =
  | ({ readonly kind: 'IMAGE' } & ImageWork)
  | ({ readonly kind: 'DESCRIPTION' } & DescriptionWork)
  | ({ readonly kind: 'VIDEO' } & VideoWork)
  | ({ readonly kind: 'SPEECH' } & SpeechWork)
  | ({ readonly kind: 'VOICE_CLONE' } & VoiceCloneWork)
  | ({ readonly kind: 'COMFY_WORKFLOW' } & ComfyWork)
  | ({ readonly kind: 'ANALYSIS' } & AnalysisWork)
  | ({ readonly kind: 'FRAME_VIDEO' } & VideoWork)
  | ({ readonly kind: 'LIP_SYNC' } & LipSyncWork)
  | ({ readonly kind: 'CHARACTER' } & CharacterWork)
  | ({ readonly kind: 'CHARACTER_IMAGE' } & CharacterImageWork)
  | ({ readonly kind: 'PERSON_DETECTION' } & PersonDetectionWork)
  | ({ readonly kind: 'HUMAN_VIDEO' } & HumanVideoWork)
  | ({ readonly kind: 'AVATAR_SOURCE' } & AvatarSourceWork)
  | ({ readonly kind: 'AVATAR' } & AvatarWork)
  | ({ readonly kind: 'AVATAR_VIDEO' } & AvatarVideoWork);

/** Pictures from words, and from pictures. */
export interface ImageWork {
  readonly generator: string;
  readonly model?: string;
  readonly prompt: string;
  readonly negativePrompt?: string;
  readonly images?: readonly InputRef[];
  /** W:H with integers from 1 to 64. */
  readonly aspectRatio?: string;
  readonly resolution?: string;
  readonly count?: number;
  readonly seed?: number;
  /** fast, turbo, relax: midjourney's path prefix. */
  readonly speedMode?: string;
}

interface DescriptionWork {
  readonly generator: string;
  readonly model?: string;
  readonly image: InputRef;
}

/** A video from words, from a picture that starts to move, or between a first and a last frame. */
export interface VideoWork {
  readonly generator: string;
  readonly model?: string;
  readonly prompt?: string;
  readonly negativePrompt?: string;
  /** Reference picture; most wires take it as the first frame. */
  readonly image?: InputRef;
  readonly firstFrame?: InputRef;
  readonly lastFrame?: InputRef;
  readonly aspectRatio?: string;
  readonly resolution?: string;
  /** Seconds. */
  readonly duration?: number;
  readonly seed?: number;
}

/** A text to be spoken. */
export interface SpeechWork {
  readonly generator: string;
  readonly model?: string;
  readonly text: string;
  readonly voiceId: string;
  /** 1 is normal. */
  readonly speed?: number;
  /** Semitones, 0 is normal. */
  readonly pitch?: number;
  /** 1 is normal. */
  readonly volume?: number;
  readonly emotion?: string;
  /** mp3, wav, ... */
  readonly format?: string;
}

/** A voice to be learned from a sample. */
export interface VoiceCloneWork {
  readonly generator: string;
  readonly model?: string;
  readonly sample: InputRef;
  /** The id the new voice shall have. */
  readonly voiceId?: string;
  readonly name?: string;
  /** What the demo says, when one is wanted. */
  readonly text?: string;
}

/** A ComfyUI graph with its inputs filled in already. */
export interface ComfyWork {
  readonly generator: string;
  readonly model?: string;
  /** Name of a bundled comfy workflow, when it was one. */
  readonly workflowName?: string;
  /** The graph: node id -> { class_type, inputs }. */
  readonly workflow: JsonObject;
  /** Files among the inputs: `<node id>.<input name>` -> file; the provider uploads each and puts its name there. */
  readonly files: Readonly<Record<string, InputRef>>;
  /** A node of the pool that the caller wants. */
  readonly node?: string;
}

/** A question about a picture, a video or a sound. */
export interface AnalysisWork {
  readonly generator: string;
  readonly model?: string;
  readonly media: InputRef;
  readonly prompt: string;
  readonly system?: string;
}

/** A face that says something: a picture or a video, and a sound or a text. */
export interface LipSyncWork {
  readonly generator: string;
  readonly model?: string;
  /** One of image and video. */
  readonly image?: InputRef;
  readonly video?: InputRef;
  /** One of audio and text. */
  readonly audio?: InputRef;
  readonly text?: string;
  /** Who says the text; the provider's own default when absent. */
  readonly voiceId?: string;
  /** How it shall move. */
  readonly prompt?: string;
  readonly aspectRatio?: string;
  readonly resolution?: string;
}

/** A person who is to appear in several pictures, made from pictures of them. */
interface CharacterWork {
  readonly generator: string;
  readonly model?: string;
  readonly name: string;
  readonly images: readonly InputRef[];
}

/** A picture of a character. */
export interface CharacterImageWork {
  readonly generator: string;
  readonly model?: string;
  /** The provider's id of a character that is ready. */
  readonly characterId?: string;
  readonly prompt: string;
  readonly aspectRatio?: string;
  readonly resolution?: string;
  readonly count?: number;
  readonly seed?: number;
}

interface PersonDetectionWork {
  readonly generator: string;
  readonly model?: string;
  readonly image: InputRef;
}

/** A person of a picture who says what is heard. */
export interface HumanVideoWork {
  readonly generator: string;
  readonly model?: string;
  readonly image: InputRef;
  readonly audio: InputRef;
  readonly prompt?: string;
  readonly resolution?: string;
}

/** What the video of an avatar must be, as measured. */
export const AVATAR_SOURCE_TYPE = 'video/mp4';

/** A video handed to the avatar's cloud. MP4 by its content. */
interface AvatarSourceWork {
  readonly generator: string;
  readonly model?: string;
  readonly video: InputRef;
}

/** An avatar to be made. */
export interface AvatarWork {
  readonly generator: string;
  readonly model?: string;
  /** What an AVATAR_SOURCE task answered. */
  readonly videoId: string;
  readonly name?: string;
}

/** An avatar that speaks: to a sound, or to a text that is spoken first, as a step of its own. */
export interface AvatarVideoWork {
  readonly generator: string;
  readonly model?: string;
  /** What an AVATAR task answered. */
  readonly digitalId: string;
  /** One of audio and text. */
  readonly audio?: InputRef;
  readonly text?: string;
  /** Who says the text: a voice of the generator of speech. */
  readonly voiceId?: string;
  readonly resolution?: string;
}

/** Work in several steps, with what its template said at submission. */
export interface RecipeWork {
  readonly taskType: string;
  readonly prompt: string;
  readonly image?: InputRef;
  readonly aspectRatio: string;
  /** The video template's preset prompts at submission: a task keeps its own copy of what it used. */
  readonly presetPrompts: readonly string[];
  /** The template's own prompt at submission, when it has one. */
  readonly templatePrompt: string | null;
}

/** What a submission asks for: a plain step, or a recipe of several. */
export type Work = StepInput | ({ readonly kind: 'RECIPE' } & RecipeWork);

/** True when nothing comes after this state. */
export function isFinal(state: TaskState): boolean {
  return state === 'SUCCEEDED' || state === 'FAILED' || state === 'CANCELLED';
}

/** JSON of a value that is known to be JSON already (stored input, handles). */
export function asJson(value: unknown): Json {
  return value as Json;
}
