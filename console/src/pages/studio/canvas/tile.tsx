import { useRef, useState } from 'react';

import type { TaskPartsFragment } from '../../../api/documents/operations.ts';
import { TaskResult, TaskTexts } from '../../../library/result/task-result.tsx';
import { Small } from '../../../parts/looks/lines.tsx';
import { codeText, problemText, ServerWords } from '../../../parts/problem.tsx';
import { CancelButton } from '../../../parts/task/cancel-button.tsx';
import { ProgressBar } from '../../../parts/task/progress.tsx';
import { stageText, StateBadge } from '../../../parts/task/state.tsx';
import { t } from '../../../text/text.ts';
import type { Batch } from '../../../work/batches.ts';

interface WorkingTileProps {
  readonly task: TaskPartsFragment | undefined;
  readonly shape: string;
  /** It has the whole room. */
  readonly isHero?: boolean;
}

/** The classes of the place of a result. */
export const tileLook = 'relative min-w-0 overflow-hidden rounded-panel';
const HERO =
  'relative mx-auto h-[min(var(--stage-h),512px)] max-w-full min-w-0 justify-self-center rounded-panel';
const QUEUED = 'border border-dashed border-line-strong';
const RUNNING = 'shadow-[inset_0_0_0_1px_var(--line)]';

/** The place of a result, reserved in its shape while it is made. */
export function WorkingTile({ task, shape, isHero = false }: WorkingTileProps) {
  const part = useLastPart(task);
  const state = task?.state ?? 'QUEUED';
  const [failed, setFailed] = useState<unknown>(null);
  return (
    <article
      data-tile={state}
      className={`${isHero ? HERO : tileLook} ${state === 'RUNNING' ? RUNNING : QUEUED} ${state === 'RUNNING' && !isHero ? 'bg-surface' : ''}`}
      style={{ aspectRatio: shape }}
    >
      {part !== null && (
        <img className="h-full w-full object-contain" src={part.url} alt={t('studio.part')} />
      )}
      <div
        className={`absolute inset-x-0 bottom-0 flex flex-col justify-end gap-2 p-3 max-sm:p-2 ${part === null ? 'top-0' : 'bg-[color-mix(in_oklab,var(--surface)_88%,transparent)]'}`}
      >
        <div className="flex min-w-0 flex-wrap items-center gap-x-1.5 gap-y-0.5">
          <StateBadge state={state} small />
          {state === 'RUNNING' && task !== undefined && (
            <span className="ml-auto text-16 font-semibold text-text tabular-nums max-sm:text-13">
              {task.progressEstimated ? '≈ ' : ''}
              {task.progress} %
            </span>
          )}
        </div>
        <Small as="p">{task === undefined ? t('studio.sending') : stageText(task)}</Small>
        {task !== undefined && state === 'RUNNING' && (
          <ProgressBar progress={task.progress} stage={stageText(task)} />
        )}
        {failed !== null && (
          <Small as="p" role="alert">
            {problemText(failed)}
          </Small>
        )}
        {task !== undefined && (
          <CancelButton
            task={task}
            kind="ghost"
            size="small"
            className="self-start -ml-2"
            onFailed={setFailed}
          />
        )}
      </div>
    </article>
  );
}

/** How far its image was when the provider last showed it, also while later stages say nothing of it; null before the first. */
function useLastPart(task: TaskPartsFragment | undefined) {
  const last = useRef<{ readonly task: string; readonly url: string } | null>(null);
  const url = task?.stageInfo?.preview?.url;
  if (task !== undefined && url !== undefined) last.current = { task: task.id, url };
  return last.current !== null && last.current.task === task?.id ? last.current : null;
}

/** What has ended without a file: its words, its finding, or why it has failed. */
export function EndedTile({ task }: { readonly task: TaskPartsFragment }) {
  return (
    <article
      data-tile="ended"
      className="relative min-h-40 min-w-0 overflow-auto rounded-panel border border-line bg-surface"
    >
      <div className="flex flex-col gap-2 p-4">
        <StateBadge state={task.state} />
        <TaskTexts task={task} />
        {task.result !== null && <TaskResult result={task.result} />}
        {task.error !== null && (
          <>
            <p>{codeText(task.error.code)}</p>
            <Small as="p">
              <ServerWords text={task.error.message} />
            </Small>
          </>
        )}
      </div>
    </article>
  );
}

/** The shape that a result will have, as CSS writes it; square when the form does not say. */
export function readShape({ values, kind }: Pick<Batch, 'values' | 'kind'>): string {
  const { aspectRatio, resolution } = values;
  const text =
    typeof aspectRatio === 'string' ? aspectRatio : typeof resolution === 'string' ? resolution : '';
  const match = /^(\d+)[:x](\d+)$/.exec(text);
  if (match !== null) return `${match[1]} / ${match[2]}`;
  return kind === 'SPEECH' || kind === 'VOICE_CLONE' || kind === 'ANALYSIS'
    ? '3 / 1'
    : kind === 'IMAGE' || kind === 'CHARACTER_IMAGE' || kind === 'COMFY_WORKFLOW'
      ? '1 / 1'
      : '16 / 9';
}
