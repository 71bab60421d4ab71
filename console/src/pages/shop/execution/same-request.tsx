import { graphqlUrl, serverUrl } from '../../../api/addresses.ts';
import type { ExecutionPageQuery } from '../../../api/documents/operations.ts';
import { CodeTabs } from '../../../parts/code-tabs.tsx';
import { t } from '../../../text/text.ts';

type Execution = NonNullable<ExecutionPageQuery['execution']>;

/** How a program runs the same template with the same parameters, and reads this run. */
export function SameRequest({ execution }: { readonly execution: Execution }) {
  return <CodeTabs title={t('task.sameIn')} codes={codesOf(execution)} />;
}

function codesOf({
  id,
  taskId,
  template: { code },
  parameters,
}: Execution): Readonly<Record<string, string>> {
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
    curl: `curl -s ${graphqlUrl} -H 'content-type: application/json' \\\n  -d '${quoted(body)}'\n\ncurl -s ${run} -H 'content-type: application/json' \\\n  -d '${quoted(json)}'\n\ncurl -s ${progress}`,
  };
}
