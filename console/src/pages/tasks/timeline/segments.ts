import type { TaskStageCode, TaskLogQuery } from '../../../api/documents/operations.ts';
import { nodeName, stageText } from '../../../parts/task/state.tsx';
import { durationText } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';

/** A task with its log. */
export type TaskLog = NonNullable<TaskLogQuery['task']>;

/** Where the time of a task went, as its events tell it. Pure. */

/** How a piece of time is drawn: queued, started, polled, stored, failed. */
type Look = 'q' | 's' | 'r' | 'w' | 'f';

/** A piece of time with one stage. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly look: Look;
  readonly text: string;
}

/** A moment at which the provider told something new. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

type Attempt = TaskLog['attempts'][number];

/** The stages of a task, one after the other; events of one stage, and of one node of a workflow, are one segment. */
export function listSegments({ events }: TaskLog, end: number): readonly Segment[] {
  const segments: Segment[] = [];
  for (const { at, stageInfo, state } of events) {
    const start = Date.parse(at);
    const text = stageInfo.node === null ? stageText({ stageInfo }) : nodeName(stageInfo.node);
    const before = segments.at(-1);
    if (before?.text === text) continue;
    if (before !== undefined) segments[segments.length - 1] = { ...before, to: start };
    if (state === 'QUEUED' || state === 'RUNNING') {
      segments.push({ from: start, to: end, look: LOOKS[stageInfo.code] ?? 'r', text });
    }
  }
  return segments;
}

/** How stages are drawn; all others as work of the provider. */
const LOOKS: Readonly<Partial<Record<TaskStageCode, Look>>> = {
  QUEUED: 'q',
  QUEUED_UPSTREAM: 'q',
  PAUSED: 'q',
  PROVIDER_AWAY: 'q',
  PROVIDER_BUSY: 'q',
  STARTING: 's',
  STARTING_UPSTREAM: 's',
  STORING_RESULT: 'w',
};

/** Stages that the provider tells; Kiln sets all others itself. */
const TOLD: ReadonlySet<TaskStageCode> = new Set<TaskStageCode>([
  'QUEUED_UPSTREAM',
  'STARTING_UPSTREAM',
  'UPLOADING',
  'LEARNING_CHARACTER',
  'RENDERING',
  'FINALIZING',
  'RUNNING_NODE',
  'OTHER',
]);

/** What the provider told, and when: each a tick on the bar. */
function listTicks({ events }: TaskLog): readonly Tick[] {
  return events
    .filter(({ state, stageInfo }) => state === 'RUNNING' && TOLD.has(stageInfo.code))
    .map(({ at, stageInfo, progress }) => ({
      at: Date.parse(at),
      text: `${stageText({ stageInfo })}, ${progress} %`,
    }));
}

/**
 * The stages within one attempt. Events name no attempt: where two run at a time, theirs is one bar in its last colour.
 */
export function listAttemptSegments(task: TaskLog, attempt: Attempt, now: number): readonly Segment[] {
  const from = Date.parse(attempt.startedAt);
  const to = readEnd(attempt, now);
  const hasFailed = attempt.state === 'FAILED' || attempt.state === 'UNKNOWN';
  const whole: Segment = { from, to, look: hasFailed ? 'f' : 'r', text: '' };
  if (isShared(task, attempt, now)) return [whole];
  const found = listSegments(task, now)
    .filter((one) => one.to > from && one.from < to && one.look !== 'w')
    .map((one, index): Segment => ({
      ...one,
      from: Math.max(from, one.from),
      to: Math.min(to, one.to),
      look: index === 0 && one.look === 'q' ? 's' : one.look,
    }));
  const last = found.pop() ?? whole;
  return [...found, { ...last, to, look: hasFailed ? 'f' : last.look }];
}

/** The ticks within one attempt; none where another runs at the same time. */
export function listAttemptTicks(task: TaskLog, attempt: Attempt, now: number): readonly Tick[] {
  if (isShared(task, attempt, now)) return [];
  const from = Date.parse(attempt.startedAt);
  const to = readEnd(attempt, now);
  return listTicks(task).filter(({ at }) => at >= from && at <= to);
}

/** Each node of a workflow with the times it ran, in the order they began. */
export function listNodes(task: TaskLog, end: number): readonly { node: string; runs: readonly Segment[] }[] {
  const nodes = new Map<string, Segment[]>();
  const { events } = task;
  let last: string | null = null;
  events.forEach(({ at, stageInfo: { node: found } }, index) => {
    const node = found === null ? null : `${nodeName(found)} ${found.nodeId}`;
    const until = events.slice(index + 1).find((later) => later.stageInfo.node?.nodeId !== found?.nodeId);
    if (node !== null && node !== last) {
      const run = {
        from: Date.parse(at),
        to: until === undefined ? end : Date.parse(until.at),
        look: 'r',
        text: node,
      } as const;
      nodes.set(node, [...(nodes.get(node) ?? []), run]);
    }
    last = node;
  });
  return [...nodes].map(([node, runs]) => ({ node, runs }));
}

function isShared({ attempts }: TaskLog, attempt: Attempt, now: number): boolean {
  const from = Date.parse(attempt.startedAt);
  return attempts.some(
    (other) =>
      other !== attempt && Date.parse(other.startedAt) < readEnd(attempt, now) && readEnd(other, now) > from,
  );
}

function readEnd({ endedAt }: Attempt, now: number): number {
  return endedAt === null ? now : Date.parse(endedAt);
}

/** The axis of a timeline: which times stand on it, and how they are written. Pure. */

/** Steps in milliseconds: each a time that people count in. */
const STEPS = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000];
/** Most times that stand beside each other without touching. */
const MOST = 6;

/** Milliseconds between two times of an axis that is so long. */
export function chooseStep(total: number): number {
  const found = STEPS.find((step) => total / step <= MOST);
  return found ?? Math.ceil(total / MOST / 60_000) * 60_000;
}

/** The times on an axis of so many milliseconds, each on a line of its grid. */
export function listTimes(total: number): readonly number[] {
  const step = chooseStep(total);
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, index) => index * step);
}

/** A time in as many digits as tell it from its neighbours. */
export function axisText(time: number, step: number): string {
  if (time >= 60_000) return durationText(time);
  const digits = step < 100 ? 2 : step < 1_000 ? 1 : 0;
  return t('time.seconds', { seconds: (time / 1_000).toFixed(digits) });
}
