import { graphqlUrl, serverUrl } from '../../api/addresses.ts';
import { CodeTabs } from '../../parts/code-tabs.tsx';
import { t } from '../../text/text.ts';
import type { TaskLog } from './timeline/task-log.ts';

/** How a program reads this task, to copy. */
export function SameRequest({ task }: { readonly task: TaskLog }) {
  return <CodeTabs title={t('task.sameIn')} codes={codesOf(task.id)} />;
}

function codesOf(id: string): Readonly<Record<string, string>> {
  const query = `{ task(id: "${id}") { state progress outputs { url } error { code message } } }`;
  const body = JSON.stringify({ query }).replaceAll("'", String.raw`'\''`);
  const status = new URL(`api/task/status/${id}`, serverUrl).href;
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
    curl: `curl -s ${graphqlUrl} -H 'content-type: application/json' \\\n  -d '${body}'\n\ncurl -s ${status}`,
  };
}
