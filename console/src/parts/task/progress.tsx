import type { TaskPartsFragment } from '../../api/operations.ts';
import { t } from '../../text/text.ts';
import { stageText } from './stage.ts';

/** How far a running task is. */
export function ProgressBar({ task }: { readonly task: Pick<TaskPartsFragment, 'progress' | 'stage'> }) {
  return (
    <div
      className="bar"
      role="progressbar"
      aria-label={t('task.progress')}
      aria-valuenow={task.progress}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={`${task.progress} %, ${stageText(task)}`}
    >
      <i style={{ width: `${task.progress}%` }} />
    </div>
  );
}
