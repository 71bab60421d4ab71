import type { AttemptState, TaskState } from '../../api/documents/operations.ts';
import { t } from '../../text/text.ts';

/** A state as shape, word and colour, readable without the colour. */
export function StateBadge({
  state,
  boxed = false,
}: {
  readonly state: TaskState;
  readonly boxed?: boolean;
}) {
  return (
    <span className={`st ${boxed ? 'box ' : ''}${state}`}>
      <StateShape state={state} />
      <span>{t(`state.${state}`)}</span>
    </span>
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

/** The shape alone, where a word stands beside it. */
export function StateShape({ state, size = 14 }: { readonly state: TaskState; readonly size?: number }) {
  return (
    <svg
      width={`${size / 16}rem`}
      height={`${size / 16}rem`}
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={
        state === 'RUNNING'
          ? '[.RUNNING>&]:[animation:spin_2.4s_linear_infinite] [.RUNNING>&]:[transform-origin:50%_50%]'
          : ''
      }
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
