import { useMutation } from '@apollo/client/react';

import { CancelTaskDocument, type TaskPartsFragment } from '../../../api/operations.ts';
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
  const state = task?.state ?? 'QUEUED';
  return (
    <article className={`tile ${state} ${className}`} style={{ aspectRatio: shape }}>
      <div className="work">
        <div className="row sb-row">
          <StateBadge state={state} />
          {state === 'RUNNING' && task !== undefined && (
            <span className="push pc">
              {task.progressEstimated ? '≈ ' : ''}
              {task.progress} %
            </span>
          )}
        </div>
        <p className="c12 mute">{task === undefined ? t('studio.sending') : stageText(task)}</p>
        {task !== undefined && state === 'RUNNING' && (
          <ProgressBar progress={task.progress} stage={stageText(task)} />
        )}
        {task !== undefined && (
          <button
            type="button"
            className="btn sm ghost tile-cancel"
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

/** What has ended without a file: its words, its finding, or why it has failed. */
export function EndedTile({ task }: { readonly task: TaskPartsFragment }) {
  return (
    <article className="tile ended">
      <div className="ended-in">
        <StateBadge state={task.state} />
        <TaskTexts task={task} />
        {task.result !== null && <TaskResult result={task.result} />}
        {task.error !== null && (
          <>
            <p>{codeText(task.error.code)}</p>
            <p className="c12 mute">
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
