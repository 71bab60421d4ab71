import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { Fragment, type ReactNode, useLayoutEffect, useRef, useState } from 'react';

import { Check } from '../../parts/looks/inputs.tsx';
import { cardLook } from '../../parts/looks/panels.tsx';
import { ActionsHead, FiguresHead, TableFrame } from '../../parts/looks/table.tsx';
import { useIncrementalCount } from '../../parts/page/later.tsx';
import { t } from '../../text/text.ts';

/** Pixels of a row before it is measured, and rows beyond the window that are drawn. */
const ROW = 61;
const OVERSCAN = 12;
/** Rows that are drawn in one turn of the event loop. */
const STEP = 3;

interface TaskTableProps {
  readonly seesOwner?: boolean;
  /** Absent where nothing can be selected. */
  readonly onSelectAll?: (all: boolean) => void;
  readonly isAllSelected?: boolean;
  /** What can be done with the selection; null while there is none. */
  readonly bulk?: ReactNode;
  readonly count: number;
  /** What a row is remembered by. */
  readonly getKey: (index: number) => string;
  readonly row: (index: number) => ReactNode;
}

/** The table of tasks, with its heads; only the rows in the window are in the page, however many there are. */
export function TaskTable(props: TaskTableProps) {
  const { seesOwner = false, onSelectAll, isAllSelected, bulk, count } = props;
  return (
    <div className={cardLook}>
      {bulk}
      <TableFrame label={t('page.tasks')}>
        <table aria-rowcount={count + 1}>
          <thead>
            <tr>
              {onSelectAll !== undefined && (
                <th>
                  <Check
                    aria-label={t('tasks.selectAll')}
                    checked={isAllSelected}
                    onChange={({ target }) => onSelectAll(target.checked)}
                  />
                </th>
              )}
              <th>{t('task.state')}</th>
              <th>{t('task.task')}</th>
              <th className="max-sm:hidden">{t('task.progress')}</th>
              {seesOwner && <th className="max-md:hidden">{t('task.owner')}</th>}
              <FiguresHead wide>{t('task.lasted')}</FiguresHead>
              <FiguresHead wide>{t('task.cost')}</FiguresHead>
              <FiguresHead>{t('task.created')}</FiguresHead>
              <ActionsHead />
            </tr>
          </thead>
          <Rows {...props} />
        </table>
      </TableFrame>
    </div>
  );
}

function Rows({ count, getKey, row }: Pick<TaskTableProps, 'count' | 'getKey' | 'row'>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const next = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    setTop((before) => (Math.abs(before - next) < 1 ? before : next));
  });
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: getKey,
  });
  const inWindow = virtual.getVirtualItems();
  const items = inWindow.slice(0, useIncrementalCount(inWindow.length, STEP, 0));
  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  return (
    <tbody ref={body}>
      <Space height={before} />
      {items.map(({ index, key }) => (
        <Fragment key={key}>{row(index)}</Fragment>
      ))}
      <Space height={after} />
    </tbody>
  );
}

/** In the place of the rows that are not drawn; invisible, as what moves down while they are drawn would count as a shift of the layout. */
function Space({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className="invisible border-0">
      <td colSpan={99} className="border-0 p-0" style={{ height }} />
    </tr>
  );
}
