import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { graphqlUrl } from '../../api/addresses.ts';
import { freshAuthorization } from '../../api/session.ts';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { MUTATION } from './snippets.ts';

interface Answer {
  readonly text: string;
  /** The task that was started; null when the server refused. */
  readonly task: string | null;
}

/** Sends the request of the snippets from this page, as it would be sent by a program. */
export function TryIt() {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isSending, setIsSending] = useState(false);
  const run = () => {
    setIsSending(true);
    setError(null);
    send()
      .then(setAnswer, setError)
      .finally(() => setIsSending(false));
  };
  return (
    <section className="card">
      <header>
        <h2>{t('start.try')}</h2>
        <button type="button" className="btn pri push" disabled={isSending} onClick={run}>
          {t(isSending ? 'start.trying' : 'start.try')}
        </button>
      </header>
      <div className="pad col">
        <p className="mute">{t('start.tryText')}</p>
        <pre className="whitespace-pre-wrap">{MUTATION}</pre>
        {error !== null && <Problem error={error} />}
        {answer !== null && (
          <div role="status" className="col">
            <p className="c12 mute">{t('start.answer')}</p>
            <pre tabIndex={0}>{answer.text}</pre>
            {answer.task !== null && (
              <Link className="link" to="/tasks/$id" params={{ id: answer.task }}>
                {t('start.openTask')}
              </Link>
            )}
          </div>
        )}
      </div>
    </section>
  );
}

async function send(): Promise<Answer> {
  const authorization = await freshAuthorization();
  const response = await fetch(graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization === null ? {} : { authorization }) },
    body: JSON.stringify({ query: MUTATION }),
  });
  const body = (await response.json()) as {
    readonly data?: { readonly generateImage?: { readonly id: string } | null } | null;
  };
  return { text: JSON.stringify(body, null, 2), task: body.data?.generateImage?.id ?? null };
}
