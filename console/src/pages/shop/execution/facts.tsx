import { Link } from '@tanstack/react-router';

import { graphqlUrl, serverUrl } from '../../../api/addresses.ts';
import { useCaller } from '../../../api/caller.ts';
import type { ExecutionPageQuery } from '../../../api/documents/operations.ts';
import { buyerText } from '../../../library/order.ts';
import { CodeTabs } from '../../../parts/code-tabs.tsx';
import { Fact, FactList, Id } from '../../../parts/facts.tsx';
import { Card, CardHead } from '../../../parts/looks/panels.tsx';
import { providerName } from '../../../parts/provider-name.ts';
import { durationText, exactTime } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import { keyOption } from '../../../work/program.ts';

type Execution = NonNullable<ExecutionPageQuery['execution']>;

/** What it was started with. */
export function Parameters({ parameters }: { readonly parameters: unknown }) {
  const entries = Object.entries(parameters as Readonly<Record<string, unknown>>);
  if (entries.length === 0) return null;
  return (
    <Card>
      <CardHead title={t('task.input')} />
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
      <CardHead title={t('task.facts')} />
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
            {providerName(task.provider)}
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

/** How a program runs the same template with the same parameters, and reads this run. */
export function SameRequest({ execution }: { readonly execution: Execution }) {
  const needsKey = useCaller()?.kind !== 'ANONYMOUS';
  return <CodeTabs title={t('task.sameIn')} codes={writePrograms(execution, needsKey)} />;
}

function writePrograms(
  { id, taskId, template: { code }, parameters }: Execution,
  needsKey: boolean,
): Readonly<Record<string, string>> {
  const key = keyOption(needsKey);
  const query = 'mutation ($p: JSON!) { executeTemplate(code: "CODE", parameters: $p) { id taskId } }';
  const body = JSON.stringify({ query: query.replace('CODE', code), variables: { p: parameters } });
  const quoted = (text: string) => text.replaceAll("'", String.raw`'\''`);
  const run = new URL(`templates/execute/${code}`, serverUrl).href;
  const progress = new URL(`templates/execution/${taskId}/progress`, serverUrl).href;
  const json = JSON.stringify(parameters);
  return {
    GraphQL: `mutation ($p: JSON!) {
  executeTemplate(code: "${code}", parameters: $p) { id taskId }
}
# { "p": ${JSON.stringify(parameters)} }

subscription {
  executionProgress(id: "${id}") {
    seq status stage progress
    execution { task { outputs { url } } error { code message } }
  }
}`,
    REST: `POST ${run}\n${json}\n\nGET ${progress}`,
    curl: `curl -s ${graphqlUrl} ${key}-H 'content-type: application/json' \\\n  -d '${quoted(body)}'\n\ncurl -s ${run} ${key}-H 'content-type: application/json' \\\n  -d '${quoted(json)}'\n\ncurl -s ${key}${progress}`,
  };
}
