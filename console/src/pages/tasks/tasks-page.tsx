import { useQuery } from '@apollo/client/react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { useIsSignedIn } from '../../api/credential.ts';
import { type TaskState, TasksDocument } from '../../api/operations.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { useBatches } from '../../work/batches.ts';
import { TaskRow } from './task-row.tsx';

const STATES: readonly TaskState[] = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
const PAGE = 30;

/** What runs and what has failed. Who has signed in sees their tasks, a visitor what this browser has made. */
export function TasksPage() {
  const isSignedIn = useIsSignedIn();
  return (
    <>
      <header className="top">
        <h1>{t('page.tasks')}</h1>
        {!isSignedIn && <span className="c12 mute">{t('tasks.ofBrowser')}</span>}
      </header>
      <div className="page">{isSignedIn ? <CallerTasks /> : <BrowserTasks />}</div>
    </>
  );
}

function CallerTasks() {
  const { state } = useSearch({ from: '/tasks' });
  const navigate = useNavigate({ from: '/tasks' });
  const filter = state === undefined ? null : { states: [state] };
  const { data, error, loading, fetchMore } = useQuery(TasksDocument, {
    variables: { filter, first: PAGE },
    fetchPolicy: 'cache-and-network',
  });
  const edges = data?.tasks.edges ?? [];
  const { hasNextPage = false, endCursor = null } = data?.tasks.pageInfo ?? {};
  const showMore = () =>
    fetchMore({
      variables: { after: endCursor },
      updateQuery: (before, { fetchMoreResult: { tasks } }) => ({
        tasks: { ...tasks, edges: [...before.tasks.edges, ...tasks.edges] },
      }),
    });
  return (
    <>
      <div className="bars" role="group" aria-label={t('tasks.filter')}>
        {[undefined, ...STATES].map((one) => (
          <button
            key={one ?? 'all'}
            type="button"
            className="chip"
            aria-pressed={one === state}
            onClick={() => void navigate({ search: one === undefined ? {} : { state: one } })}
          >
            {one === undefined ? t('tasks.all') : t(`state.${one}`)}
          </button>
        ))}
      </div>
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && edges.length === 0 && <Empty title={t('tasks.none')} />}
      {edges.length > 0 && (
        <TaskTable>
          {edges.map(({ node }) => (
            <TaskRow key={node.id} id={node.id} />
          ))}
        </TaskTable>
      )}
      {hasNextPage && (
        <button type="button" className="btn self-center" disabled={loading} onClick={() => void showMore()}>
          {t('list.more')}
        </button>
      )}
    </>
  );
}

function BrowserTasks() {
  const ids = useBatches().flatMap(({ tasks }) => tasks);
  if (ids.length === 0) {
    return (
      <Empty title={t('tasks.none')} text={t('tasks.noneText')}>
        <Link className="btn pri" to="/">
          {t('page.studio')}
        </Link>
      </Empty>
    );
  }
  return (
    <TaskTable>
      {ids.slice(0, PAGE).map((id) => (
        <TaskRow key={id} id={id} />
      ))}
    </TaskTable>
  );
}

function TaskTable({ children }: { readonly children: ReactNode }) {
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('page.tasks')}>
      <table className="task-table">
        <thead>
          <tr>
            <th>{t('task.state')}</th>
            <th>{t('task.task')}</th>
            <th>{t('task.progress')}</th>
            <th className="num p-hide">{t('task.lasted')}</th>
            <th className="num">{t('task.created')}</th>
            <th>
              <span className="vh">{t('task.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
