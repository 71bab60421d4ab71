import { Tabs } from '@base-ui/react/tabs';
import { useState } from 'react';

import { graphqlUrl, serverUrl } from '../../api/addresses.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { t } from '../../text/text.ts';
import type { TaskLog } from './task-log.ts';

/** How a program reads this task, to copy. */
export function SameRequest({ task }: { readonly task: TaskLog }) {
  const codes = codesOf(task.id);
  const [chosen, choose] = useState('GraphQL');
  const code = codes[chosen] ?? '';
  return (
    <section className="card">
      <header>
        <h2>{t('task.sameIn')}</h2>
        <span className="push">
          <CopyButton text={code} />
        </span>
      </header>
      <Tabs.Root value={chosen} onValueChange={(next) => choose(String(next))}>
        <Tabs.List className="seg code-tabs" aria-label={t('task.sameIn')}>
          {Object.keys(codes).map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={chosen}>
          <pre className="code" tabIndex={0}>
            {code}
          </pre>
        </Tabs.Panel>
      </Tabs.Root>
    </section>
  );
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
