import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';

import { useIsSignedIn, useSeesAll } from '../../api/caller.ts';
import type { TaskFilter, TaskKind } from '../../api/documents/operations.ts';
import { cancelTask, isEnded } from '../../api/live-tasks.ts';
import { refusalCode } from '../../api/refusal.ts';
import { formatTotal } from '../../api/use-pages.ts';
import { toFilter } from '../../library/narrowing.ts';
import { SelectionRegion } from '../../parts/controls/selection.tsx';
import { isBusy } from '../../parts/controls/typing.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button, buttonLook } from '../../parts/looks/button.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { Page, PageTop, Skeleton } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { useBatches } from '../../work/batches.ts';
import { BulkButtons, BulkList } from './bulk.tsx';
import { CsvButton } from './csv-button.tsx';
import { Filters } from './filters.tsx';
import { LiveRow, TaskRow } from './task-row.tsx';
import { TaskTable } from './task-table.tsx';
import { useTasks } from './use-tasks.ts';

/** What runs and what has failed. Who has signed in sees their tasks, a visitor what this browser has made. */
export function TasksPage() {
  const isSignedIn = useIsSignedIn();
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.tasks')}</PageHeading>
        {!isSignedIn && <Small>{t('tasks.ofBrowser')}</Small>}
      </PageTop>
      <Page>{isSignedIn ? <CallerTasks /> : <BrowserTasks />}</Page>
    </>
  );
}

/** What the address narrows the list by. */
function useFilter(): TaskFilter {
  const search = useSearch({ from: '/tasks' });
  return useMemo(() => {
    const { state, type, find, ...narrowing } = search;
    return {
      ...(state === undefined ? {} : { states: [state] }),
      ...(type === undefined ? {} : { kinds: [type as TaskKind] }),
      ...(find === undefined ? {} : { text: find }),
      ...toFilter(narrowing),
    };
  }, [search]);
}

function CallerTasks() {
  const filter = useFilter();
  const seesAll = useSeesAll();
  const navigate = useNavigate({ from: '/tasks' });
  const { tasks, total, error, isLoading, more } = useTasks(filter, seesAll);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<unknown>(null);
  const toggle = useCallback((id: string) => setSelected((before) => toggled(before, id)), []);
  const narrowToOwner = useCallback(
    (owner: string) => void navigate({ search: (before) => ({ ...before, owner }) }),
    [navigate],
  );
  const running = tasks.filter((task) => selected.has(task.id) && !isEnded(task)).map(({ id }) => id);
  const cancel = () => {
    setFailure(null);
    void cancelAll(running).then(({ refused, failed }) => {
      setSelected(refused);
      setFailure(failed);
    });
  };
  useRowKeys({ toggle, cancel });
  return (
    <>
      <Filters />
      <BulkList />
      {error !== undefined && <Problem error={error} />}
      {failure !== null && <Problem error={failure} />}
      {isLoading && tasks.length === 0 && <Skeleton className="h-80" aria-busy="true" />}
      {!isLoading && error === undefined && tasks.length === 0 && (
        <Empty title={t('tasks.none')} text={t('tasks.noneText')} />
      )}
      {tasks.length > 0 && (
        <TaskTable
          seesOwner={seesAll}
          isAllSelected={tasks.every(({ id }) => selected.has(id))}
          onSelectAll={(all) => setSelected(new Set(all ? tasks.map(({ id }) => id) : []))}
          bulk={
            selected.size === 0 ? null : (
              <SelectionRegion label={t('tasks.selection')}>
                <Figures>{t('tasks.selected', { count: selected.size })}</Figures>
                <Button size="small" disabled={running.length === 0} onClick={cancel}>
                  <Icon name="close" size={14} />
                  {t('tasks.cancelMany', { count: running.length })}
                </Button>
                <Button kind="ghost" size="small" onClick={() => setSelected(new Set())}>
                  {t('gallery.clear')}
                </Button>
                <Small className="ml-auto max-xl:hidden">{t('tasks.keys')}</Small>
              </SelectionRegion>
            )
          }
          count={tasks.length}
          getKey={(index) => tasks[index]?.id ?? String(index)}
          row={(index) => {
            const task = tasks[index];
            return (
              task !== undefined && (
                <TaskRow
                  task={task}
                  place={index}
                  isSelected={selected.has(task.id)}
                  onSelect={toggle}
                  onFailed={setFailure}
                  onOwner={seesAll ? narrowToOwner : undefined}
                />
              )
            );
          }}
        />
      )}
      {total !== null && tasks.length > 0 && (
        <Row wrap>
          <Figures tone="muted" small>
            {t('tasks.shown', { count: tasks.length, total: formatTotal(total) })}
          </Figures>
          <BulkButtons filter={filter} />
          <CsvButton filter={filter} />
          {more !== null && (
            <Button disabled={isLoading} onClick={more}>
              {t('list.more')}
            </Button>
          )}
        </Row>
      )}
    </>
  );
}

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(before);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** What is wrong with one task alone. */
const OF_ONE: readonly unknown[] = ['TOO_LATE', 'NOT_FOUND', 'FORBIDDEN'];

/** One after the other, as each counts against the caller's rate; answers those that are not cancelled, and why the first is not. */
async function cancelAll(ids: readonly string[]) {
  const refused = new Set(ids);
  let failed: unknown = null;
  for (const id of ids) {
    try {
      await cancelTask(id);
      refused.delete(id);
    } catch (thrown) {
      failed ??= thrown;
      if (!OF_ONE.includes(refusalCode(thrown))) break;
    }
  }
  return { refused, failed };
}

function BrowserTasks() {
  const ids = useBatches().flatMap(({ tasks }) => tasks);
  const [failure, setFailure] = useState<unknown>(null);
  if (ids.length === 0) {
    return (
      <Empty title={t('tasks.none')} text={t('tasks.noneText')}>
        <Link className={buttonLook({ kind: 'primary' })} to="/">
          {t('page.studio')}
        </Link>
      </Empty>
    );
  }
  return (
    <>
      {failure !== null && <Problem error={failure} />}
      <TaskTable
        count={ids.length}
        getKey={(index) => ids[index] ?? String(index)}
        row={(index) => <LiveRow id={ids[index] ?? ''} place={index} onFailed={setFailure} />}
      />
    </>
  );
}

interface RowKeys {
  /** Selects the row whose link has the focus, or takes it out. */
  readonly toggle: (id: string) => void;
  /** Cancels what is selected. */
  readonly cancel: () => void;
}

/** J and K move through the rows, X selects, C cancels the selected; not while somebody types. */
function useRowKeys({ toggle, cancel }: RowKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isBusy(event)) return;
      const rows = [...document.querySelectorAll<HTMLElement>('tr[data-task]')];
      const current = rows.findIndex((row) => row.contains(document.activeElement));
      if (event.key === 'j') focus(rows[current + 1]);
      if (event.key === 'k') focus(rows[Math.max(0, current - 1)]);
      const id = rows[current]?.dataset['task'];
      if (event.key === 'x' && id !== undefined) toggle(id);
      if (event.key === 'c') cancel();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

function focus(row: HTMLElement | undefined): void {
  row?.querySelector('a')?.focus();
}
