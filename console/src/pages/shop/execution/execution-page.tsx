import { useMutation } from '@apollo/client/react';
import { Link, useParams } from '@tanstack/react-router';

import { CancelTaskDocument, type ExecutionPageQuery } from '../../../api/operations.ts';
import { Icon } from '../../../parts/icons.tsx';
import { MediaView } from '../../../parts/media-view.tsx';
import { Empty, Problem } from '../../../parts/problem.tsx';
import { ProgressBar, stageText } from '../../../parts/progress.tsx';
import { SandboxTag } from '../../../parts/sandbox-tag.tsx';
import { StateBadge } from '../../../parts/state.tsx';
import { TaskResult, TaskTexts } from '../../../parts/task-result.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import { STATE_OF } from '../executions.tsx';
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
  if (execution === null) return <Empty title={t('shell.notFound')} text={t('shop.executionGone')} />;
  const { task, payment } = execution;
  return (
    <>
      <Head execution={execution} />
      <div className="page">
        <div className="split">
          <div>
            <Outcome execution={execution} />
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

function Outcome({ execution }: { readonly execution: Execution }) {
  const { status, stage, progress, error, task, template, createdAt } = execution;
  return (
    <section className="card">
      <header>
        <span role="status">
          <StateBadge state={STATE_OF[status]} boxed />
        </span>
        {task?.sandbox === true && <SandboxTag />}
        <span className="c12 mute">
          <Ago at={createdAt} />
        </span>
      </header>
      <div className="pad col gap-3">
        {!isOver(status) && (
          <div className="col">
            <p className="row">
              <span className="mute">{stageText({ stage, queuePosition: task?.queuePosition ?? null })}</span>
              <span className="push num sb">{progress} %</span>
            </p>
            <ProgressBar task={{ progress, stage }} />
          </div>
        )}
        {error !== null && <Failure error={error} />}
        {task?.notes.map((note) => (
          <p key={note} className="note">
            {note}
          </p>
        ))}
        {task !== null && <TaskTexts task={task} />}
        {task !== null && task.result !== null && <TaskResult result={task.result} />}
        {task !== null && task.outputs.length > 0 && (
          <div className="outs">
            {task.outputs.map((media) => (
              <figure key={media.id} className="col">
                <MediaView media={media} alt={template.name} />
                <figcaption className="row c12 mute">
                  <Link className="link" to="/gallery" search={{ open: media.id }}>
                    {t('shop.inGallery')}
                  </Link>
                  <a className="link push shrink-0" href={media.url} download>
                    {t('media.download')}
                  </a>
                </figcaption>
              </figure>
            ))}
          </div>
        )}
      </div>
    </section>
  );
}

function Failure({ error: { code, message } }: { readonly error: NonNullable<Execution['error']> }) {
  return (
    <div className="note bad" role="alert">
      <Icon name="warning" />
      <div className="col gap-1">
        <p className="sb">{textOr(`error.${code}`, code)}</p>
        <p>{message}</p>
        <p className="c12 mono">{code}</p>
      </div>
    </div>
  );
}
