import { Link } from '@tanstack/react-router';

import { useCaller } from '../../api/caller.ts';
import type {
  ExecutionPartsFragment,
  ExecutionStatus,
  TaskPartsFragment,
  TaskState,
} from '../../api/documents/operations.ts';
import { ExecutionsDocument } from '../../api/documents/shop.ts';
import { usePages, formatTotal } from '../../api/use-pages.ts';
import { buyerText, listedFor } from '../../library/order.ts';
import { Figures } from '../../parts/looks/lines.tsx';
import { Card, CardHead } from '../../parts/looks/panels.tsx';
import { FiguresCell } from '../../parts/looks/table.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import { codeText, Empty } from '../../parts/problem.tsx';
import { stageText, StateBadge } from '../../parts/task/state.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';

const PAGE = 25;

/** The states of tasks that those of executions look like. */
export const STATE_OF: Readonly<Record<ExecutionStatus, TaskState>> = {
  PENDING: 'QUEUED',
  RUNNING: 'RUNNING',
  COMPLETED: 'SUCCEEDED',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
};

/** What an execution does now: what its task does, once there is one. */
export function executionStage({
  status,
  task,
}: Pick<ExecutionPartsFragment, 'status'> & {
  readonly task: (Pick<TaskPartsFragment, 'stageInfo'> & { readonly queuePosition?: number | null }) | null;
}): string {
  if (status === 'PENDING') return t('shop.waitsForMedia');
  return task === null ? t(`state.${STATE_OF[status]}`) : stageText(task);
}

/** What was run, newest first: the caller's own, everybody's for keys and administrators. */
export function Executions() {
  const caller = useCaller();
  const pages = usePages(ExecutionsDocument, 'executions', {
    variables: { first: PAGE, userId: listedFor(caller) },
    skip: caller === undefined,
  });
  return (
    <Card>
      <CardHead title={t('shop.executions')}>
        <Figures tone="faint" small>
          {pages.list && formatTotal(pages.list.totalCount)}
        </Figures>
      </CardHead>
      <PagedTable
        label={t('shop.executions')}
        pages={pages}
        empty={<Empty title={t('shop.noExecutions')} text={t('shop.noExecutionsText')} />}
      >
        {pages.edges.map(
          ({
            node: { id, taskId, template, userId, user, status, task, progress, createdAt, endedAt, error },
          }) => (
            <tr key={id}>
              <td>
                <Link className="font-medium" to="/shop/executions/$taskId" params={{ taskId }}>
                  {template.name}
                </Link>
              </td>
              <td
                className="max-sm:hidden truncate text-muted text-12 font-normal min-w-0"
                title={userId ?? undefined}
              >
                {userId !== null && buyerText({ userId, user })}
              </td>
              <td>
                <StateBadge state={STATE_OF[status]} />
              </td>
              <td className="max-sm:hidden text-muted text-12 font-normal">
                {error !== null && codeText(error.code)}
                {endedAt === null && executionStage({ status, task })}
              </td>
              <FiguresCell wide>{endedAt === null && `${progress} %`}</FiguresCell>
              <FiguresCell>
                <Ago at={createdAt} />
              </FiguresCell>
            </tr>
          ),
        )}
      </PagedTable>
    </Card>
  );
}
