import type { ReactNode } from 'react';

import type { AttemptState, TaskState, StagePartsFragment } from '../../api/documents/operations.ts';
import { t, type Texts, textOr } from '../../text/text.ts';

/** States of work, and two that connections have besides. */
export type Look = TaskState | 'ATTENTION' | 'SANDBOX';

/** The class of the colour of each. */
export const STATE_TEXT: Readonly<Record<Look, string>> = {
  QUEUED: 'text-queued',
  RUNNING: 'text-running',
  SUCCEEDED: 'text-succeeded',
  FAILED: 'text-failed',
  CANCELLED: 'text-cancelled',
  ATTENTION: 'text-attention',
  SANDBOX: 'text-muted',
};
const GROUND: Readonly<Record<Look, string>> = {
  QUEUED: 'bg-queued-bg',
  RUNNING: 'bg-running-bg',
  SUCCEEDED: 'bg-succeeded-bg',
  FAILED: 'bg-failed-bg',
  CANCELLED: 'bg-cancelled-bg',
  ATTENTION: 'bg-attention-bg',
  SANDBOX: 'bg-sunken',
};

interface StateMarkProps {
  readonly look: Look;
  /** The shape of another state than the look's. */
  readonly shape?: TaskState;
  /** On a ground of its colour. */
  readonly boxed?: boolean;
  /** In smaller type. */
  readonly small?: boolean;
  readonly children: ReactNode;
}

/** A state as shape, word and colour, readable without the colour. */
export function StateMark(props: StateMarkProps) {
  const { look, boxed = false, small = false, children } = props;
  const { shape = look === 'ATTENTION' || look === 'SANDBOX' ? 'QUEUED' : look } = props;
  const ground = boxed ? `h-6 rounded-small pr-2 pl-1.5 ${GROUND[look]}` : '';
  return (
    <span
      data-state={look}
      data-boxed={boxed ? '' : undefined}
      className={`inline-flex items-center gap-1.5 font-medium whitespace-nowrap [td>&]:flex ${STATE_TEXT[look]} ${ground} ${boxed || small ? 'text-12' : ''}`}
    >
      <StateShape state={shape} turns={look === 'RUNNING'} />
      {children}
    </span>
  );
}

interface StateBadgeProps extends Pick<StateMarkProps, 'boxed' | 'small'> {
  readonly state: TaskState;
  /** Without its word on phones, where there is no room; it is read out. */
  readonly isShort?: boolean;
}

/** The state of a task. */
export function StateBadge({ state, isShort = false, ...rest }: StateBadgeProps) {
  return (
    <StateMark look={state} {...rest}>
      <span className={isShort ? 'max-sm:sr-only' : undefined}>{t(`state.${state}`)}</span>
    </StateMark>
  );
}

/** The states of tasks that those of attempts look like. */
export const SHAPE_OF_ATTEMPT: Readonly<Record<AttemptState, TaskState>> = {
  STARTING: 'QUEUED',
  RUNNING: 'RUNNING',
  SUCCEEDED: 'SUCCEEDED',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
  UNKNOWN: 'FAILED',
};

interface StateShapeProps {
  readonly state: TaskState;
  readonly size?: number;
  readonly turns?: boolean;
}

/** The shape alone, where a word stands beside it. */
export function StateShape({ state, size = 14, turns = false }: StateShapeProps) {
  return (
    <svg
      width={`${size / 16}rem`}
      height={`${size / 16}rem`}
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={turns ? 'animate-turn' : undefined}
    >
      {SHAPES[state]}
    </svg>
  );
}

const ring = { cx: 8, cy: 8, r: 6, fill: 'none', stroke: 'currentColor', strokeWidth: 1.75 };
const white = { fill: 'none', stroke: 'var(--surface)', strokeWidth: 1.75, strokeLinecap: 'round' } as const;

const SHAPES = {
  QUEUED: <circle {...ring} strokeDasharray="2.4 2.3" />,
  RUNNING: (
    <>
      <circle {...ring} />
      <path d="M8 4.2a3.8 3.8 0 0 1 0 7.6Z" fill="currentColor" />
    </>
  ),
  SUCCEEDED: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="m5 8.2 2.1 2.1L11 6.2" {...white} />
    </>
  ),
  FAILED: (
    <>
      <path d="M8 .8 15.2 8 8 15.2.8 8Z" fill="currentColor" />
      <path d="M8 4.8v3.6M8 11v.1" {...white} />
    </>
  ),
  CANCELLED: (
    <>
      <circle {...ring} />
      <path d="m4 12 8-8" stroke="currentColor" strokeWidth="1.75" />
    </>
  ),
} as const;

/** What tasks do, in the reader's language: a text for each code of the server. */

/** A task, or an entry of its log, as far as its stage goes. */
interface Staged {
  readonly stageInfo: StagePartsFragment;
  readonly queuePosition?: number | null;
}

/** The stage in the reader's language, and the place in the line. */
export function stageText({ stageInfo, queuePosition = null }: Staged): string {
  if (queuePosition !== null) return t('task.inLine', { place: queuePosition });
  const { step } = stageInfo;
  const stage = codeText(stageInfo);
  return step === null ? stage : t('stage.ofStep', { step: stepText(step), stage });
}

function codeText({ code, text, node, retryInSeconds, upstreamPosition }: StagePartsFragment): string {
  if (code === 'OTHER') return text;
  if (code === 'RUNNING_NODE') return node === null ? text : nodeText(node);
  if (upstreamPosition !== null) return t('stage.upstreamAt', { place: upstreamPosition });
  const key = `stage.${code}` as const satisfies keyof Texts;
  return textOr(key, text, { seconds: retryInSeconds ?? '' });
}

function stepText({ code, number, total }: NonNullable<StagePartsFragment['step']>): string {
  const key = `step.${code}` as const satisfies keyof Texts;
  const name = textOr(key, code);
  return number === null || total === null ? name : t('step.numbered', { name, number, most: total });
}

/** What a node of a graph is called: its class, where that is known. */
export function nodeName({ classType, nodeId }: NonNullable<StagePartsFragment['node']>): string {
  return classType ?? nodeId;
}

function nodeText(running: NonNullable<StagePartsFragment['node']>): string {
  const { nodeId: node, step, steps } = running;
  const name = nodeName(running);
  if (step === null || steps === null) return t('studio.node', { name, node });
  return t('studio.nodeStep', { name, node, step, most: steps });
}
