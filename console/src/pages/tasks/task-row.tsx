import { Link } from '@tanstack/react-router';
import { memo, useState } from 'react';

import type { RowPartsFragment } from '../../api/documents/operations.ts';
import { cancelTask, isEnded, useLiveTask } from '../../api/live-tasks.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Check } from '../../parts/looks/inputs.tsx';
import { Small } from '../../parts/looks/lines.tsx';
import { FiguresCell } from '../../parts/looks/table.tsx';
import { moneyText } from '../../parts/money.ts';
import { codeText } from '../../parts/problem.tsx';
import { ProgressBar } from '../../parts/task/progress.tsx';
import { stageText, StateBadge } from '../../parts/task/state.tsx';
import { Ago, durationText } from '../../parts/time.tsx';
import { Who } from '../../parts/who.tsx';
import { t } from '../../text/text.ts';
import { findBatch, readTitle } from '../../work/batches.ts';
import { TABS } from '../../work/work.ts';

/** One task of a visitor, which follows its own events while it runs. */
export function LiveRow({ id, ...row }: Pick<TaskRowProps, 'place' | 'onFailed'> & { readonly id: string }) {
  const { task } = useLiveTask(id);
  return task === undefined || task === null ? null : <TaskRow task={task} {...row} />;
}

/** What a row shows; of a visitor's own task the rest is not asked for. */
type RowTask = Omit<RowPartsFragment, 'owner' | 'model' | 'input'> &
  Partial<Pick<RowPartsFragment, 'owner' | 'model' | 'input'>>;

interface TaskRowProps {
  readonly task: RowTask;
  /** Which row of the list it is, from 0. */
  readonly place: number;
  readonly isSelected?: boolean;
  /** Absent where nothing can be selected. */
  readonly onSelect?: (id: string) => void;
  /** Called with why it is not cancelled; with null when that is tried again. */
  readonly onFailed: (error: unknown) => void;
  /** Narrows the list to one owner; absent for who sees their own alone. */
  readonly onOwner?: ((owner: string) => void) | undefined;
}

/** One task of a list; drawn anew when it has changed, not with each event of another. */
export const TaskRow = memo(function TaskRow(props: TaskRowProps) {
  const { task, place, isSelected = false, onSelect, onOwner, onFailed } = props;
  const { id } = task;
  const name = nameTask(task);
  return (
    <tr data-task={id} aria-selected={isSelected} aria-rowindex={place + 2}>
      {onSelect !== undefined && (
        <td>
          <Check
            aria-label={t('tasks.selectOne', { name })}
            checked={isSelected}
            onChange={() => onSelect(id)}
          />
        </td>
      )}
      <td>
        <StateBadge state={task.state} isShort />
      </td>
      <td className="w-[50%] min-w-45 max-w-0">
        <div className="flex items-center gap-3 min-w-0">
          <Preview task={task} />
          <span className="gap-0 flex flex-col min-w-0">
            <Link className="truncate font-medium min-w-0" to="/tasks/$id" params={{ id }}>
              {name}
            </Link>
            <Small className="truncate min-w-0">
              {t(`kind.${task.kind}`)} · {task.model ?? task.generator}
            </Small>
            <span className="hidden max-sm:block!">
              {isEnded(task) ? task.error !== null && <TaskEnd task={task} /> : <Running task={task} />}
            </span>
          </span>
        </div>
      </td>
      <td className="max-sm:hidden min-w-30 max-w-80">
        {isEnded(task) ? <TaskEnd task={task} /> : <Running task={task} />}
      </td>
      {onOwner !== undefined && <Owner owner={task.owner ?? 'anon'} onOwner={onOwner} />}
      <FiguresCell wide>{lasted(task)}</FiguresCell>
      <FiguresCell wide>{costText(task)}</FiguresCell>
      <FiguresCell>
        <Ago at={task.createdAt} />
      </FiguresCell>
      <FiguresCell>{!isEnded(task) && <CancelButton task={task} onFailed={onFailed} />}</FiguresCell>
    </tr>
  );
});

/** A visitor's work has no owner; the filter calls them `anon`. */
function Owner({ owner, onOwner }: { readonly owner: string; readonly onOwner: (owner: string) => void }) {
  return (
    <td className="max-md:hidden">
      <button
        type="button"
        className="truncate link min-w-0 max-w-30"
        title={owner}
        onClick={() => onOwner(owner)}
      >
        <Who id={owner} />
      </button>
    </td>
  );
}

function CancelButton({
  task: { id, cancelRequestedAt },
  onFailed,
}: Pick<TaskRowProps, 'task' | 'onFailed'>) {
  const [isAsked, setAsked] = useState(false);
  const cancel = () => {
    setAsked(true);
    onFailed(null);
    cancelTask(id).catch((failed: unknown) => {
      setAsked(false);
      onFailed(failed);
    });
  };
  return (
    <Button
      kind="ghost"
      size="small"
      icon
      disabled={isAsked || cancelRequestedAt !== null}
      label={t('task.cancel')}
      onClick={cancel}
    >
      <Icon name="close" size={14} />
    </Button>
  );
}

/** What a task is called: its prompt, the words this browser made it with, else its kind. */
export function nameTask(task: Pick<RowTask, 'id' | 'kind' | 'taskType' | 'input'>): string {
  const batch = findBatch(task.id);
  return (
    (task.input?.prompt || undefined) ??
    (batch === undefined ? undefined : readTitle(batch)) ??
    task.taskType ??
    t(`kind.${task.kind}`)
  );
}

/** What a task has cost, or is expected to; in the sandbox that it was free. */
export function costText({ cost, sandbox, endedAt }: Pick<RowTask, 'cost' | 'sandbox' | 'endedAt'>): string {
  if (sandbox) return t('shop.free');
  // What has not ended may still learn its price.
  if (cost === null || (cost.amount === null && endedAt === null)) return '';
  return `${cost.estimated && cost.amount !== null ? '≈ ' : ''}${moneyText(cost)}`;
}

function Preview({ task }: { readonly task: RowTask }) {
  const [output] = task.outputs;
  if (output?.contentType.startsWith('image/') === true) {
    return (
      <img
        className="w-9 h-9 rounded-small object-cover bg-media flex-none grid place-items-center text-faint"
        src={output.small ?? output.url}
        alt=""
        loading="lazy"
      />
    );
  }
  const icon = TABS.find(({ kinds }) => (kinds as readonly string[]).includes(task.kind))?.icon ?? 'tasks';
  return (
    <span
      className="w-9 h-9 rounded-small object-cover bg-media flex-none grid place-items-center text-faint"
      aria-hidden="true"
    >
      <Icon name={icon} />
    </span>
  );
}

function Running({ task }: { readonly task: RowTask }) {
  const stage = stageText(task);
  return (
    <div className="gap-1 flex flex-col min-w-0">
      <Small className="truncate min-w-0">{stage}</Small>
      <ProgressBar progress={task.progress} stage={stage} />
    </div>
  );
}

function TaskEnd({ task }: { readonly task: RowTask }) {
  if (task.error !== null)
    return (
      <span className="text-12 font-normal line-clamp-2 overflow-hidden">{codeText(task.error.code)}</span>
    );
  return <Small>{t('task.outputs', { count: task.outputs.length })}</Small>;
}

function lasted({ startedAt, endedAt }: RowTask): string {
  if (startedAt === null || endedAt === null) return '';
  return durationText(Date.parse(endedAt) - Date.parse(startedAt));
}
