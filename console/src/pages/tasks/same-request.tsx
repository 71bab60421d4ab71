import { graphqlUrl } from '../../api/addresses.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { t } from '../../text/text.ts';
import type { TaskLog } from './task-log.ts';

/** How a program reads this task, to copy. */
export function SameRequest({ task }: { readonly task: TaskLog }) {
  const query = `{ task(id: "${task.id}") { state progress outputs { url } error { code message } } }`;
  const curl = `curl -s ${graphqlUrl} -H 'content-type: application/json' \\\n  -d '${JSON.stringify({ query })}'`;
  return (
    <section className="card">
      <header>
        <h2>{t('task.inCode')}</h2>
        <span className="push">
          <CopyButton text={curl} />
        </span>
      </header>
      <pre className="code" tabIndex={0}>
        {curl}
      </pre>
    </section>
  );
}
