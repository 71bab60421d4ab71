import type { ReactNode } from 'react';

import { t } from '../../text/text.ts';

interface TaskTableProps {
  readonly seesOwner?: boolean;
  /** Absent where nothing can be selected. */
  readonly onSelectAll?: (all: boolean) => void;
  readonly isAllSelected?: boolean;
  /** What can be done with the selection; null while there is none. */
  readonly bulk?: ReactNode;
  readonly children: ReactNode;
}

/** The table of tasks, with its heads. */
export function TaskTable({ seesOwner = false, onSelectAll, isAllSelected, bulk, children }: TaskTableProps) {
  return (
    <div className="card">
      {bulk}
      <div className="scroll" tabIndex={0} role="region" aria-label={t('page.tasks')}>
        <table className="task-table">
          <thead>
            <tr>
              {onSelectAll !== undefined && (
                <th>
                  <input
                    type="checkbox"
                    className="check"
                    aria-label={t('tasks.selectAll')}
                    checked={isAllSelected}
                    onChange={({ target }) => onSelectAll(target.checked)}
                  />
                </th>
              )}
              <th>{t('task.state')}</th>
              <th>{t('task.task')}</th>
              <th className="p-hide">{t('task.progress')}</th>
              {seesOwner && <th className="p-hide">{t('task.owner')}</th>}
              <th className="num p-hide">{t('task.lasted')}</th>
              <th className="num p-hide">{t('task.cost')}</th>
              <th className="num">{t('task.created')}</th>
              <th>
                <span className="vh">{t('task.actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </div>
  );
}
