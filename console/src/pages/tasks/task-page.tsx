import { useMutation, useQuery } from '@apollo/client/react';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';

import { RedeliverDocument, TaskDeliveriesDocument, TaskLogDocument } from '../../api/documents/tasks.ts';
import { useLiveTask } from '../../api/live-tasks.ts';
import { Outcome } from '../../library/result/outcome.tsx';
import { BackLink } from '../../parts/buttons.tsx';
import { Fact, FactList, Id } from '../../parts/facts.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Figures, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop } from '../../parts/looks/panels.tsx';
import { FiguresCell, TableFrame } from '../../parts/looks/table.tsx';
import { moneyText } from '../../parts/money.ts';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { NotFound, Problem } from '../../parts/problem.tsx';
import { providerName } from '../../parts/provider-name.ts';
import { stageText, StateBadge } from '../../parts/task/state.tsx';
import { clockText, durationText, exactTime } from '../../parts/time.tsx';
import { Who } from '../../parts/who.tsx';
import { t } from '../../text/text.ts';
import { TaskActions } from './task-actions.tsx';
import { SameRequest, TaskInput } from './task-input.tsx';
import { costText, nameTask } from './task-row.tsx';
import type { TaskLog } from './timeline/segments.ts';
import { Timeline } from './timeline/timeline.tsx';

/** One task: its outputs or why it failed, then where the time went, then who was asked. */
export function TaskPage() {
  const { id } = useParams({ from: '/tasks/$id' });
  const live = useLiveTask(id);
  const { data, error, refetch } = useQuery(TaskLogDocument, { variables: { id } });
  const lastSeq = live.task?.lastSeq;
  // Attempts and events are not part of the live events; they are asked for again when one has come.
  useEffect(() => {
    if (lastSeq !== undefined) refetch().catch(() => undefined);
  }, [lastSeq, refetch]);
  if (error !== undefined && data === undefined) return <Problem error={error} />;
  if (data === undefined) return <Page aria-busy="true" />;
  const task = data.task;
  if (task === null) return <NotFound text={t('task.goneText')} />;
  return (
    <>
      <TaskHead task={task} />
      <Page>
        <div className="with-aside">
          <div>
            <Outcome work={task} stage={stageText(task)} task={task} name={nameTask(task)} />
            <Timeline task={task} />
            <Events task={task} />
          </div>
          <div>
            <TaskInput input={task.input} />
            <Facts task={task} />
            <Deliveries id={task.id} />
            <SameRequest task={task} />
          </div>
        </div>
      </Page>
    </>
  );
}

function TaskHead({ task }: { readonly task: TaskLog }) {
  return (
    <PageTop>
      <BackLink to="/tasks" label={t('task.back')} />
      <PageHeading className="min-w-0 flex-[1_1_240px] truncate">{nameTask(task)}</PageHeading>
      <TaskActions task={task} />
    </PageTop>
  );
}

function Facts({ task }: { readonly task: TaskLog }) {
  const start = task.startedAt === null ? null : Date.parse(task.startedAt);
  return (
    <Card>
      <CardHead title={t('task.facts')} />
      <FactList className="p-4">
        <Fact name={t('task.id')}>
          <Id text={task.id} />
        </Fact>
        <Fact name={t('task.kind')}>{t(`kind.${task.kind}`)}</Fact>
        <Fact name={t('task.generator')}>{task.generator}</Fact>
        {task.provider !== null && <Fact name={t('task.provider')}>{providerName(task.provider)}</Fact>}
        {task.model !== null && <Fact name={t('studio.model')}>{task.model}</Fact>}
        {costText(task) !== '' && (
          <Fact name={t('task.cost')}>
            {costText(task)}
            {task.sandbox && (task.cost?.amount ?? 0) > 0 && task.cost !== null && (
              <span className="text-muted"> · {t('usage.wouldCost', { amount: moneyText(task.cost) })}</span>
            )}
          </Fact>
        )}
        {task.owner !== null && (
          <Fact name={t('task.owner')}>
            <Who id={task.owner} />
          </Fact>
        )}
        <Fact name={t('task.created')}>{exactTime(task.createdAt)}</Fact>
        {start !== null && (
          <Fact name={t('task.waited')}>{durationText(start - Date.parse(task.createdAt))}</Fact>
        )}
        {start !== null && task.endedAt !== null && (
          <Fact name={t('task.lasted')}>{durationText(Date.parse(task.endedAt) - start)}</Fact>
        )}
        {task.traceId !== null && (
          <Fact name={t('task.trace')}>
            <Id text={task.traceId} />
          </Fact>
        )}
      </FactList>
    </Card>
  );
}

function Events({ task }: { readonly task: TaskLog }) {
  return (
    <Card>
      <CardHead title={t('task.events')}>
        <Figures tone="faint" small>
          {task.events.length}
        </Figures>
      </CardHead>
      <TableFrame className="max-h-90 overflow-y-auto [&_td]:whitespace-nowrap" label={t('task.events')}>
        <table className="[&_td]:h-9">
          <tbody>
            {task.events.toReversed().map(({ seq, at, state, stageInfo, progress }) => (
              <tr key={seq}>
                <FiguresCell className="text-faint">{seq}</FiguresCell>
                <td>
                  <StateBadge state={state} />
                </td>
                <td>{stageText({ stageInfo })}</td>
                <FiguresCell>{progress} %</FiguresCell>
                <FiguresCell className="text-muted">
                  <time dateTime={at} title={exactTime(at)}>
                    {clockText(at)}
                  </time>
                </FiguresCell>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}

/** Whom the end of the task was told by webhook, with a way to tell it again; nothing when nobody asked to be told. */
function Deliveries({ id }: { readonly id: string }) {
  const { data } = useQuery(TaskDeliveriesDocument, { variables: { id } });
  const [redeliver, { loading, error }] = useMutation(RedeliverDocument);
  const deliveries = data?.webhookDeliveries ?? [];
  if (deliveries.length === 0) return null;
  return (
    <Card>
      <CardHead title={t('task.deliveries')} />
      <ul>
        {deliveries.map((delivery) => (
          <li key={delivery.id} className="p-4 flex flex-col gap-2 min-w-0">
            <span className="font-mono [font-size:12px]">{delivery.url}</span>
            <Small>
              {delivery.deliveredAt === null
                ? t('task.undelivered', {
                    count: delivery.attempts,
                    reason: delivery.lastError ?? delivery.lastStatus ?? '',
                  })
                : t('task.delivered', {
                    status: delivery.lastStatus ?? '',
                    at: exactTime(delivery.deliveredAt),
                  })}
            </Small>
            <Button
              size="small"
              className="self-start"
              disabled={loading}
              onClick={() => void redeliver({ variables: { id: delivery.id } }).catch(() => undefined)}
            >
              {t('task.redeliver')}
            </Button>
          </li>
        ))}
      </ul>
      {error !== undefined && <Problem error={error} />}
    </Card>
  );
}
