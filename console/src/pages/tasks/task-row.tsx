import { useMutation } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';

import { CancelTaskDocument, type TaskPartsFragment } from '../../api/operations.ts';
import { isEnded, useLiveTask } from '../../api/use-live-task.ts';
import { Icon } from '../../parts/icons.tsx';
import { ProgressBar, stageText } from '../../parts/progress.tsx';
import { StateBadge } from '../../parts/state.tsx';
import { Ago, durationText } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { batchOfTask, titleOf } from '../../work/batches.ts';

/** One task of the list; it follows its events while it runs. */
export function TaskRow({ id }: { readonly id: string }) {
  const { task } = useLiveTask(id);
  const [cancel] = useMutation(CancelTaskDocument);
  if (task === undefined || task === null) return null;
  return (
    <tr>
      <td>
        <StateBadge state={task.state} />
      </td>
      <td className="task-cell">
        <div className="task-name">
          <Preview task={task} />
          <span className="col gap-0">
            <Link className="cut med" to="/tasks/$id" params={{ id }}>
              {nameOf(task)}
            </Link>
            <span className="c12 mute cut">
              {t(`kind.${task.kind}`)} · {task.generator}
            </span>
          </span>
        </div>
      </td>
      <td className="task-stage">{isEnded(task) ? <EndOf task={task} /> : <Running task={task} />}</td>
      <td className="num p-hide">{lasted(task)}</td>
      <td className="num">
        <Ago at={task.createdAt} />
      </td>
      <td className="num">
        {!isEnded(task) && (
          <button
            type="button"
            className="btn sm ghost ico"
            disabled={task.cancelRequestedAt !== null}
            aria-label={t('task.cancel')}
            title={t('task.cancel')}
            onClick={() => void cancel({ variables: { id } }).catch(() => undefined)}
          >
            <Icon name="close" size={14} />
          </button>
        )}
      </td>
    </tr>
  );
}

/** What a task is called: the words it was made with where this browser knows them, else its kind. */
export function nameOf(task: Pick<TaskPartsFragment, 'id' | 'kind' | 'taskType'>): string {
  const batch = batchOfTask(task.id);
  return batch === undefined
    ? (task.taskType ?? t(`kind.${task.kind}`))
    : (titleOf(batch) ?? t(`kind.${task.kind}`));
}

function Preview({ task }: { readonly task: TaskPartsFragment }) {
  const [output] = task.outputs;
  if (output?.contentType.startsWith('image/') === true) {
    return <img className="thumb" src={output.url} alt="" loading="lazy" />;
  }
  return <span className="thumb" aria-hidden="true" />;
}

function Running({ task }: { readonly task: TaskPartsFragment }) {
  return (
    <div className="col gap-1">
      <span className="c12 mute cut">{stageText(task)}</span>
      <ProgressBar task={task} />
    </div>
  );
}

function EndOf({ task }: { readonly task: TaskPartsFragment }) {
  if (task.error !== null) return <span className="c12 cut2">{task.error.message}</span>;
  return <span className="c12 mute">{t('task.outputs', { count: task.outputs.length })}</span>;
}

function lasted({ startedAt, endedAt }: TaskPartsFragment): string {
  if (startedAt === null || endedAt === null) return '';
  return durationText(Date.parse(endedAt) - Date.parse(startedAt));
}
