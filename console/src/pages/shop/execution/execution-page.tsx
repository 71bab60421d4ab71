import { useMutation } from '@apollo/client/react';
import { Link, useParams } from '@tanstack/react-router';

import { CancelTaskDocument, type ExecutionPageQuery } from '../../../api/operations.ts';
import { Icon } from '../../../parts/icons.tsx';
import { NotFound } from '../../../parts/not-found.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Outcome } from '../../../parts/task/outcome.tsx';
import { t } from '../../../text/text.ts';
import { executionStage, STATE_OF } from '../executions.tsx';
import { Facts, Parameters } from './facts.tsx';
import { PaymentCard } from './payment-card.tsx';
import { SameRequest } from './same-request.tsx';
import { Steps } from './steps.tsx';
import { isOver, useExecution } from './use-execution.ts';

type Execution = NonNullable<ExecutionPageQuery['execution']>;

/** One run of a template: what it made or why it failed, its steps, what was paid, and the same for programs. */
export function ExecutionPage() {
  const { taskId } = useParams({ from: '/shop/executions/$taskId' });
  const { execution, error } = useExecution(taskId);
  if (error !== undefined && execution === undefined) return <Problem error={error} />;
  if (execution === undefined) return <div className="page" aria-busy="true" />;
  if (execution === null) return <NotFound text={t('shop.executionGone')} />;
  const { task, payment } = execution;
  return (
    <>
      <Head execution={execution} />
      <div className="page">
        <div className="split">
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
      </div>
    </>
  );
}

function Head({ execution: { template, taskId, status, task } }: { readonly execution: Execution }) {
  const [cancel] = useMutation(CancelTaskDocument);
  return (
    <header className="top">
      <Link
        className="btn ghost ico"
        to="/shop"
        search={{ view: 'executions' }}
        aria-label={t('shop.allExecutions')}
      >
        <Icon name="left" />
      </Link>
      <h1 className="cut">{template.name}</h1>
      <span className="push row">
        {!isOver(status) && (
          <button
            type="button"
            className="btn"
            disabled={task === null || task.cancelRequestedAt !== null}
            onClick={() => void cancel({ variables: { id: taskId } }).catch(() => undefined)}
          >
            <Icon name="close" size={14} />
            {t('task.cancel')}
          </button>
        )}
        <Link className="btn" to="/shop" search={{ template: template.code }}>
          <Icon name="again" size={14} />
          {t('shop.another')}
        </Link>
      </span>
    </header>
  );
}
