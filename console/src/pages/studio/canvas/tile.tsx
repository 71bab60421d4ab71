import { useMutation } from '@apollo/client/react';
import { useRef } from 'react';

import { CancelTaskDocument } from '../../../api/documents/api.ts';
import type { TaskPartsFragment } from '../../../api/documents/operations.ts';
import { TaskResult, TaskTexts } from '../../../library/result/task-result.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { codeText } from '../../../parts/problem.tsx';
import { ServerWords } from '../../../parts/server-words.tsx';
import { ProgressBar } from '../../../parts/task/progress.tsx';
import { stageText } from '../../../parts/task/stage.ts';
import { StateBadge } from '../../../parts/task/state.tsx';
import { t } from '../../../text/text.ts';
import type { Batch } from '../../../work/batches.ts';

interface WorkingTileProps {
  readonly task: TaskPartsFragment | undefined;
  readonly shape: string;
  readonly className?: string;
}

/** The place of a result, reserved in its shape while it is made. */
export function WorkingTile({ task, shape, className = '' }: WorkingTileProps) {
  const [cancel] = useMutation(CancelTaskDocument);
  const part = useLastPart(task);
  const state = task?.state ?? 'QUEUED';
  return (
    <article
      className={`tile ${state} ${className} ${part === null ? '' : '[&.tile>img]:object-contain [&.tile_.work]:top-auto [&.tile_.work]:right-0 [&.tile_.work]:bottom-0 [&.tile_.work]:left-0 [&.tile_.work]:[background:color-mix(in_oklab,var(--surface)_88%,transparent)]'}`}
      style={{ aspectRatio: shape }}
    >
      {part !== null && <img src={part.url} alt={t('studio.part')} />}
      <div className="work">
        <div className="flex min-w-0 flex-wrap items-center gap-x-1.5 gap-y-0.5">
          <StateBadge state={state} />
          {state === 'RUNNING' && task !== undefined && (
            <span className="ml-auto [.work_&]:text-16 [.work_&]:font-semibold [.work_&]:text-text [.work_&]:tabular-nums max-sm:[.work_&]:text-13 max-sm:[.work_&]:font-semibold">
              {task.progressEstimated ? '≈ ' : ''}
              {task.progress} %
            </span>
          )}
        </div>
        <p className="text-muted text-12 font-normal">
          {task === undefined ? t('studio.sending') : stageText(task)}
        </p>
        {task !== undefined && state === 'RUNNING' && (
          <ProgressBar progress={task.progress} stage={stageText(task)} />
        )}
        {task !== undefined && (
          <button
            type="button"
            className="btn sm ghost self-start -ml-2"
            disabled={task.cancelRequestedAt !== null}
            onClick={() => void cancel({ variables: { id: task.id } }).catch(() => undefined)}
          >
            <Icon name="close" size={14} />
            {t('task.cancel')}
          </button>
        )}
      </div>
    </article>
  );
}

/** How far its picture was when the provider last showed it, also while later stages say nothing of it; null before the first. */
function useLastPart(task: TaskPartsFragment | undefined) {
  const last = useRef<{ readonly task: string; readonly url: string } | null>(null);
  const url = task?.stageInfo?.preview?.url;
  if (task !== undefined && url !== undefined) last.current = { task: task.id, url };
  return last.current !== null && last.current.task === task?.id ? last.current : null;
}

/** What has ended without a file: its words, its finding, or why it has failed. */
export function EndedTile({ task }: { readonly task: TaskPartsFragment }) {
  return (
    <article className="tile ended">
      <div className="flex flex-col gap-2 p-4">
        <StateBadge state={task.state} />
        <TaskTexts task={task} />
        {task.result !== null && <TaskResult result={task.result} />}
        {task.error !== null && (
          <>
            <p>{codeText(task.error.code)}</p>
            <p className="text-muted text-12 font-normal">
              <ServerWords text={task.error.message} />
            </p>
          </>
        )}
      </div>
    </article>
  );
}

/** The shape that a result will have, as CSS writes it; square when the form does not say. */
export function shapeOf({ values, kind }: Pick<Batch, 'values' | 'kind'>): string {
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
