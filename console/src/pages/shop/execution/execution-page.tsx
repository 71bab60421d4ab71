import { useQuery, useSubscription } from '@apollo/client/react';
import { Link, useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';

import type {
  AttemptPartsFragment,
  ExecutionPageQuery,
  ExecutionStatus,
} from '../../../api/documents/operations.ts';
import { ExecutionEventsDocument, ExecutionPageDocument } from '../../../api/documents/shop.ts';
import { Outcome } from '../../../library/result/outcome.tsx';
import { BackLink } from '../../../parts/buttons.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { buttonLook } from '../../../parts/looks/button.tsx';
import { Figures, Row } from '../../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop } from '../../../parts/looks/panels.tsx';
import { PageHeading } from '../../../parts/page/page-heading.tsx';
import { NotFound, Problem, problemText } from '../../../parts/problem.tsx';
import { AttemptError, AttemptName } from '../../../parts/task/attempt.tsx';
import { CancelButton } from '../../../parts/task/cancel-button.tsx';
import { durationText } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { executionStage, STATE_OF } from '../executions.tsx';
import { Facts, Parameters, SameRequest } from './facts.tsx';
import { PaymentCard } from './payment-card.tsx';

type Execution = NonNullable<ExecutionPageQuery['execution']>;

/** One run of a template: what it made or why it failed, its steps, what was paid, and the same for programs. */
export function ExecutionPage() {
  const { taskId } = useParams({ from: '/shop/executions/$taskId' });
  const { execution, error } = useExecution(taskId);
  if (error !== undefined && execution === undefined) return <Problem error={error} />;
  if (execution === undefined) return <Page aria-busy="true" />;
  if (execution === null) return <NotFound text={t('shop.executionGone')} />;
  const { task, payment } = execution;
  return (
    <>
      <Head execution={execution} />
      <Page>
        <div className="with-aside">
          <div>
            <Outcome
              work={{ ...execution, state: STATE_OF[execution.status] }}
              stage={executionStage(execution)}
              task={task}
              name={execution.template.name}
            />
            {task !== null && <Steps task={task} />}
          </div>
          <div>
            {payment !== null && <PaymentCard payment={payment} />}
            <Parameters parameters={execution.parameters} />
            <Facts execution={execution} />
            <SameRequest execution={execution} />
          </div>
        </div>
      </Page>
    </>
  );
}

function Head({ execution: { template, status, task } }: { readonly execution: Execution }) {
  const [failed, setFailed] = useState<unknown>(null);
  return (
    <PageTop>
      <BackLink to="/shop" search={{ view: 'executions' }} label={t('shop.allExecutions')} />
      <PageHeading className="min-w-0 flex-[1_1_240px] truncate">{template.name}</PageHeading>
      <Row as="span" className="ml-auto">
        {failed !== null && (
          <span className="text-12 font-normal" role="alert">
            {problemText(failed)}
          </span>
        )}
        {!isOver(status) && <CancelButton task={task} onFailed={setFailed} />}
        <Link className={buttonLook()} to="/shop" search={{ template: template.code }}>
          <Icon name="again" size={14} />
          {t('shop.another')}
        </Link>
      </Row>
    </PageTop>
  );
}

type Task = NonNullable<NonNullable<ExecutionPageQuery['execution']>['task']>;

/** What was done for it, step by step: which provider, how it went, how long, and why not. */
function Steps({ task: { attempts, endedAt } }: { readonly task: Task }) {
  return (
    <Card>
      <CardHead title={t('shop.steps')}>
        <Figures tone="faint" small>
          {attempts.length}
        </Figures>
      </CardHead>
      {attempts.length === 0 && <p className="p-4 text-muted">{t('shop.noSteps')}</p>}
      <ol
        data-shop-steps
        className="[&>li]:py-2 [&>li]:px-4 [&>li]:border-t [&>li]:border-t-line [&>li:first-child]:border-t-0"
      >
        {attempts.map((attempt) => (
          <li key={`${attempt.step} ${attempt.number}`}>
            <Row as="span">
              <AttemptName attempt={attempt} />
              <Figures>{lastedText(attempt, endedAt)}</Figures>
            </Row>
            <AttemptError attempt={attempt} className="block pt-1" />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function lastedText({ startedAt, endedAt }: AttemptPartsFragment, taskEndedAt: string | null): string {
  const end = endedAt ?? taskEndedAt;
  return durationText((end === null ? Date.now() : Date.parse(end)) - Date.parse(startedAt));
}

/** Whether an execution has ended. */
function isOver(status: ExecutionStatus): boolean {
  return status !== 'PENDING' && status !== 'RUNNING';
}

/**
 * Loads an execution by its task's id, which its buyer knows also without an account, and follows its log until it ends.
 * After a lost connection the server replays what was missed. Its steps and payment are no part of the log: they are asked
 * for again with every new stage.
 */
function useExecution(taskId: string) {
  const { data, error, refetch } = useQuery(ExecutionPageDocument, {
    variables: { taskId },
    fetchPolicy: 'cache-and-network',
  });
  const execution = data?.execution;
  const seen = useRef('');
  useSubscription(ExecutionEventsDocument, {
    variables: { id: execution?.id ?? '', afterSeq: execution?.task?.lastSeq ?? 0 },
    skip: execution === undefined || execution === null || isOver(execution.status),
    // A new lastSeq with every answer must not start a new subscription.
    shouldResubscribe: false,
    onData({ data: { data: event } }) {
      if (event === undefined) return;
      const { status, stage } = event.executionProgress;
      if (seen.current === `${status} ${stage}`) return;
      seen.current = `${status} ${stage}`;
      refetch().catch(() => undefined);
    },
  });
  return { execution, error };
}
