import { Link } from '@tanstack/react-router';

import type { ExecutionPageQuery } from '../../../api/documents/operations.ts';
import { Fact, FactList, Id } from '../../../parts/facts.tsx';
import { Card, CardHead } from '../../../parts/looks/panels.tsx';
import { durationText, exactTime } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import { buyerText } from '../order/buyer.ts';

type Execution = NonNullable<ExecutionPageQuery['execution']>;

/** What it was started with. */
export function Parameters({ parameters }: { readonly parameters: unknown }) {
  const entries = Object.entries(parameters as Readonly<Record<string, unknown>>);
  if (entries.length === 0) return null;
  return (
    <Card>
      <CardHead>
        <h2>{t('task.input')}</h2>
      </CardHead>
      <FactList className="p-4">
        {entries.map(([name, value]) => (
          <Fact key={name} name={textOr(`field.${name}`, name)}>
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </Fact>
        ))}
      </FactList>
    </Card>
  );
}

/** Its ids, where it leads, and how long it took. */
export function Facts({ execution }: { readonly execution: Execution }) {
  const { id, taskId, template, user, userId, createdAt, endedAt, task } = execution;
  return (
    <Card>
      <CardHead>
        <h2>{t('task.facts')}</h2>
      </CardHead>
      <FactList className="p-4">
        <Fact name={t('task.id')}>
          <Id text={id} />
        </Fact>
        <Fact name={t('task.task')}>
          <Link className="link" to="/tasks/$id" params={{ id: taskId }}>
            {t('task.open')}
          </Link>
        </Fact>
        <Fact name={t('shop.template')}>
          <Link className="link" to="/shop" search={{ template: template.code }}>
            {template.code}
          </Link>
        </Fact>
        {userId !== null && <Fact name={t('shop.runsFor')}>{buyerText({ userId, user })}</Fact>}
        {task !== null && task.provider !== null && (
          <Fact name={t('task.provider')}>
            {task.provider}
            {task.model === null ? '' : `, ${task.model}`}
          </Fact>
        )}
        <Fact name={t('task.created')}>{exactTime(createdAt)}</Fact>
        {endedAt !== null && (
          <Fact name={t('task.lasted')}>{durationText(Date.parse(endedAt) - Date.parse(createdAt))}</Fact>
        )}
        {task !== null && task.traceId !== null && (
          <Fact name={t('task.trace')}>
            <Id text={task.traceId} />
          </Fact>
        )}
      </FactList>
    </Card>
  );
}
