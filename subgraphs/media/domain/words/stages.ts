import { createReader, type Filled, toNumber, type Reading } from './forms.ts';

/**
 * What a task does, in the words that are stored and shown, and the codes that clients know them by. Every stage is
 * written in one of these forms. Stored words are read back for years: a form may be added, none may change. Pure.
 */
export const stageForms = {
  QUEUED: ['queued'],
  STARTING: ['starting'],
  FETCHING_INPUT: ['fetching input'],
  QUEUED_UPSTREAM: ['queued upstream', 'queued upstream, position {#upstreamPosition}'],
  STARTING_UPSTREAM: ['starting upstream'],
  UPLOADING: ['uploading'],
  LEARNING_CHARACTER: ['learning the character'],
  RENDERING: ['rendering', 'rendering, preview {preview}'],
  FINALIZING: ['finalizing'],
  RUNNING_NODE: [
    'node {nodeId} ({classType}) {#step}/{#steps}, preview {preview}',
    'node {nodeId} ({classType}), preview {preview}',
    'node {nodeId} {#step}/{#steps}, preview {preview}',
    'node {nodeId}, preview {preview}',
    'node {nodeId} ({classType}) {#step}/{#steps}',
    'node {nodeId} ({classType})',
    'node {nodeId} {#step}/{#steps}',
    'node {nodeId}',
  ],
  STORING_RESULT: ['storing result'],
  PROVIDER_AWAY: ['provider away, next try in {#retryInSeconds} s'],
  PROVIDER_BUSY: ['provider busy, next try in {#retryInSeconds} s'],
  PAUSED: ['paused by an administrator'],
  TRYING_AGAIN: ['trying again'],
  CANCELLING: ['cancelling'],
  FINISHED: ['finished'],
  FAILED: ['failed'],
  CANCELLED: ['cancelled'],
} as const;

/** What the steps of a task with several are called. */
export const stepForms = {
  DESCRIBING_IMAGE: ['describing the image'],
  SPEAKING_TEXT: ['speaking the text'],
  IMAGE: ['image', 'image {#number} of {#total}'],
  VIDEO: ['video'],
} as const;

/** The code of a stage. */
export type StageCode = keyof typeof stageForms | 'OTHER';

/** The code of a step. */
export type StepCode = keyof typeof stepForms;

/** What a step does, in words. */
export type StageWords = Filled<(typeof stageForms)[keyof typeof stageForms][number]>;

/** In front of a step's stages; empty when the task has no other step. */
export type StepLabel = Filled<(typeof stepForms)[StepCode][number]> | '';

/** A stage as it is stored. */
export type Stage = StageWords | `${string}: ${StageWords}`;

/** The running node of a ComfyUI graph. */
export interface RunningNode {
  readonly nodeId: string;
  readonly classType: string | null;
  readonly step: number | null;
  readonly steps: number | null;
}

/** A stage as a code with its values. */
export interface StageInfo {
  readonly code: StageCode;
  /** The words of it, without the step. */
  readonly text: string;
  readonly step: {
    readonly code: StepCode;
    readonly number: number | null;
    readonly total: number | null;
  } | null;
  readonly node: RunningNode | null;
  readonly retryInSeconds: number | null;
  readonly upstreamPosition: number | null;
  /** Id of a file that shows how far an image is. */
  readonly preview: string | null;
}

const UNKNOWN: Reading<'OTHER'> = { code: 'OTHER', values: {} };
const readStep = createReader(stepForms);
const readWords = createReader(stageForms);

/** A stage as it is written: which step, when there are several, and what it does. */
export function formatStage(step: { readonly label: string }, stage: StageWords): Stage {
  return step.label === '' ? stage : `${step.label}: ${stage}`;
}

/** The stage of a graph whose node runs. */
export function nodeStage({ nodeId, classType, step, steps }: RunningNode): StageWords {
  const named = classType === null ? nodeId : `${nodeId} (${classType})`;
  return step === null || steps === null
    ? `node ${named}`
    : `node ${named} ${Math.floor(step)}/${Math.floor(steps)}`;
}

/** A stage with a file that shows how far an image is; one that has no form for it is taken as rendering. */
export function withPreview(stage: StageWords, id: string): StageWords {
  const base = stage.startsWith('node ') ? (stage as `node ${string}`) : 'rendering';
  return `${base}, preview ${id}`;
}

/** A stored stage as a code; OTHER for words that this version does not write. */
export function readStage(stage: string): StageInfo {
  const colon = stage.indexOf(': ');
  const step = colon === -1 ? null : readStep(stage.slice(0, colon));
  const text = step === null ? stage : stage.slice(colon + 2);
  const { code, values } = readWords(text) ?? UNKNOWN;
  return {
    code,
    text,
    step: step === null ? null : { code: step.code, ...readCount(step.values) },
    node: readNode(values),
    retryInSeconds: toNumber(values['retryInSeconds']),
    upstreamPosition: toNumber(values['upstreamPosition']),
    preview: values['preview'] ?? null,
  };
}

function readCount({ number, total }: Readonly<Record<string, string>>) {
  return { number: toNumber(number), total: toNumber(total) };
}

function readNode({ nodeId, classType, step, steps }: Readonly<Record<string, string>>): RunningNode | null {
  if (nodeId === undefined) return null;
  return { nodeId, classType: classType ?? null, step: toNumber(step), steps: toNumber(steps) };
}
