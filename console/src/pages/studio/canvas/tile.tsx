import { useMutation } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';

import {
  CancelTaskDocument,
  type MediaPartsFragment,
  type TaskPartsFragment,
} from '../../../api/operations.ts';
import { isEnded, useLiveTask } from '../../../api/use-live-task.ts';
import { TaskResult, TaskTexts } from '../../../library/result/task-result.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { MediaView } from '../../../parts/media-view.tsx';
import { codeText, Problem } from '../../../parts/problem.tsx';
import { ServerWords } from '../../../parts/server-words.tsx';
import { ProgressBar } from '../../../parts/task/progress.tsx';
import { stageText } from '../../../parts/task/stage.ts';
import { StateBadge } from '../../../parts/task/state.tsx';
import { t } from '../../../text/text.ts';

interface TaskTilesProps {
  readonly id: string;
  readonly count: number;
  readonly shape: string;
  /** Makes a variant of a result; absent where no form can. */
  readonly onVary?: ((media: MediaPartsFragment) => void) | undefined;
  /** Takes a result into a form. */
  readonly onInput: (media: MediaPartsFragment) => void;
}

/** The tiles of one task: reserved in their shape while it works, replaced in place by what it has made. */
export function TaskTiles({ id, count, shape, onVary, onInput }: TaskTilesProps) {
  const { task, error } = useLiveTask(id);
  if (error !== undefined) return <Problem error={error} />;
  if (task === null) return <div className="tile gone">{t('studio.taskGone')}</div>;
  if (task === undefined || !isEnded(task)) {
    return Array.from({ length: count }, (_, index) => <WorkingTile key={index} task={task} shape={shape} />);
  }
  if (task.outputs.length === 0) return <EndedTile task={task} shape={shape} />;
  return (
    <>
      {task.outputs.map((media) => (
        <DoneTile key={media.id} task={task} media={media} onVary={onVary} onInput={onInput} />
      ))}
      {task.result !== null && <ResultTile task={task} />}
    </>
  );
}

function ResultTile({ task }: { readonly task: TaskPartsFragment }) {
  if (task.result === null || Object.keys(task.result).length < 2) return null;
  return (
    <article className="tile ended">
      <div className="ended-in">
        <TaskResult result={task.result} />
      </div>
    </article>
  );
}

function WorkingTile({
  task,
  shape,
}: {
  readonly task: TaskPartsFragment | undefined;
  readonly shape: string;
}) {
  const [cancel] = useMutation(CancelTaskDocument);
  const state = task?.state ?? 'QUEUED';
  return (
    <article className={`tile ${state}`} style={{ aspectRatio: shape }}>
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

function EndedTile({ task, shape }: { readonly task: TaskPartsFragment; readonly shape: string }) {
  return (
    <article
      className="tile ended"
      style={{ aspectRatio: task.text === null && task.result === null ? shape : 'auto' }}
    >
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
        <Link className="link" to="/tasks/$id" params={{ id: task.id }}>
          {t('task.open')}
        </Link>
      </div>
    </article>
  );
}

type DoneTileProps = Pick<TaskTilesProps, 'onVary' | 'onInput'> & {
  readonly task: TaskPartsFragment;
  readonly media: MediaPartsFragment;
};

function DoneTile({ task, media, onVary, onInput }: DoneTileProps) {
  return (
    <article className="tile done">
      <MediaView media={media} alt={t('studio.resultOf', { kind: t(`kind.${task.kind}`) })} />
      <div className="hover">
        <Link className="onpic" to="/tasks/$id" params={{ id: task.id }}>
          {t('task.open')}
        </Link>
        {onVary !== undefined && (
          <button type="button" className="onpic" onClick={() => onVary(media)}>
            {t('studio.vary')}
          </button>
        )}
        <button
          type="button"
          className="onpic ico"
          onClick={() => onInput(media)}
          aria-label={t('studio.asInput')}
          title={t('studio.asInput')}
        >
          <Icon name="input" size={14} />
        </button>
        <a className="onpic ico" href={media.url} download aria-label={t('media.download')}>
          <Icon name="download" size={14} />
        </a>
      </div>
    </article>
  );
}
