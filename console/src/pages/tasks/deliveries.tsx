import { useMutation, useQuery } from '@apollo/client/react';

import { RedeliverDocument, TaskDeliveriesDocument } from '../../api/operations.ts';
import { Problem } from '../../parts/problem.tsx';
import { exactTime } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';

/** Whom the end of the task was told by webhook, with a way to tell it again; nothing when nobody asked to be told. */
export function Deliveries({ id }: { readonly id: string }) {
  const { data } = useQuery(TaskDeliveriesDocument, { variables: { id } });
  const [redeliver, { loading, error }] = useMutation(RedeliverDocument);
  const deliveries = data?.webhookDeliveries ?? [];
  if (deliveries.length === 0) return null;
  return (
    <section className="card">
      <header>
        <h2>{t('task.deliveries')}</h2>
      </header>
      <ul>
        {deliveries.map((delivery) => (
          <li key={delivery.id} className="pad col">
            <span className="mono">{delivery.url}</span>
            <span className="c12 mute">
              {delivery.deliveredAt === null
                ? t('task.undelivered', {
                    count: delivery.attempts,
                    reason: delivery.lastError ?? delivery.lastStatus ?? '',
                  })
                : t('task.delivered', {
                    status: delivery.lastStatus ?? '',
                    at: exactTime(delivery.deliveredAt),
                  })}
            </span>
            <button
              type="button"
              className="btn sm self-start"
              disabled={loading}
              onClick={() => void redeliver({ variables: { id: delivery.id } }).catch(() => undefined)}
            >
              {t('task.redeliver')}
            </button>
          </li>
        ))}
      </ul>
      {error !== undefined && <Problem error={error} />}
    </section>
  );
}
