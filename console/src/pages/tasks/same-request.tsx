import { useQuery } from '@apollo/client/react';

import { graphqlUrl } from '../../api/addresses.ts';
import { ModelsDocument } from '../../api/documents/api.ts';
import { useCaller } from '../../api/use-caller.ts';
import { CodeTabs } from '../../parts/code-tabs.tsx';
import { t } from '../../text/text.ts';
import { programsOf, statusUrl } from '../../work/program.ts';
import { recallTask } from '../../work/recall.ts';
import { choicesOf } from '../../work/work.ts';
import type { TaskLog } from './timeline/task-log.ts';

/** How a program starts the same and follows this task, to copy. */
export function SameRequest({ task }: { readonly task: TaskLog }) {
  const { data } = useQuery(ModelsDocument);
  const needsKey = useCaller()?.kind !== 'ANONYMOUS';
  const recalled = recallTask(task);
  const choice =
    recalled === null
      ? undefined
      : choicesOf(recalled.tab, data?.models ?? []).find(({ key }) => key === recalled.draft.key);
  if (choice === undefined || recalled === null) {
    return <CodeTabs key="follow" title={t('task.follow')} codes={following(task.id)} />;
  }
  return (
    <>
      <CodeTabs title={t('task.sameIn')} codes={programsOf(choice, recalled.draft.values, needsKey)} />
      <CodeTabs key="follow" title={t('task.follow')} codes={following(task.id)} />
    </>
  );
}

function following(id: string): Readonly<Record<string, string>> {
  const query = `{ task(id: "${id}") { state progress outputs { url } error { code message } } }`;
  const status = statusUrl(id);
  return {
    GraphQL: `subscription {
  taskProgress(id: "${id}") {
    seq
    stage
    progress
    task { state outputs { url } error { code message } }
  }
}`,
    REST: `GET ${status}`,
    curl: `curl -s ${graphqlUrl} -H 'content-type: application/json' \\\n  -d '${JSON.stringify({ query })}'\n\ncurl -s ${status}`,
  };
}
