import { useMutation, useQuery } from '@apollo/client/react';
import { useEffect, useState } from 'react';

import type { BulkPartsFragment } from '../../../api/documents/operations.ts';
import { BulkOperationsDocument, StopBulkOperationDocument } from '../../../api/documents/tasks.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Figures, Row, Small } from '../../../parts/looks/lines.tsx';
import { Card } from '../../../parts/looks/panels.tsx';
import { ServerWords } from '../../../parts/server-words.tsx';
import { Bar } from '../../../parts/task/progress.tsx';
import { t } from '../../../text/text.ts';

const POLL_MS = 1_000;
/** How long after its beginning one that has ended is still shown. */
const SHOWN_MS = 10 * 60_000;

/** Operations on many tasks: those that run, with how far they are, and what has just ended. */
export function BulkList() {
  const { data, startPolling, stopPolling } = useQuery(BulkOperationsDocument, {
    fetchPolicy: 'cache-and-network',
    notifyOnNetworkStatusChange: false,
  });
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const all = data?.bulkOperations ?? [];
  const isRunning = all.some(({ state }) => state === 'RUNNING');
  useEffect(() => {
    if (isRunning) startPolling(POLL_MS);
    return stopPolling;
  }, [isRunning, startPolling, stopPolling]);
  const since = Date.now() - SHOWN_MS;
  const shown = all.filter(
    ({ id, state, createdAt }) =>
      !hidden.has(id) && (state === 'RUNNING' || new Date(createdAt).getTime() > since),
  );
  if (shown.length === 0) return null;
  return (
    <Card aria-label={t('bulk.title')}>
      {shown.map((operation) => (
        <Operation
          key={operation.id}
          operation={operation}
          onHide={() => setHidden((before) => new Set([...before, operation.id]))}
        />
      ))}
    </Card>
  );
}

interface OperationProps {
  readonly operation: BulkPartsFragment;
  readonly onHide: () => void;
}

function Operation({ operation, onHide }: OperationProps) {
  const { id, action, state, total, done, refused, problem } = operation;
  const [stop, stopped] = useMutation(StopBulkOperationDocument);
  const name = t(`bulk.name.${action}`);
  const share = total === 0 ? 100 : Math.min(100, Math.round(((done + refused) / total) * 100));
  return (
    <div className="p-4">
      <Row wrap>
        <b>{name}</b>
        <Figures tone="muted" small role="status">
          {t(`bulk.state.${state}`)} · {t('bulk.done', { done, total })}
          {refused > 0 && ` · ${t('bulk.refused', { count: refused })}`}
        </Figures>
        <span className="ml-auto">
          {state === 'RUNNING' ? (
            <Button
              size="small"
              disabled={stopped.loading}
              onClick={() => void stop({ variables: { id } }).catch(() => undefined)}
            >
              {t('bulk.stop')}
            </Button>
          ) : (
            <Button
              kind="ghost"
              size="small"
              icon
              aria-label={t('bulk.hide')}
              title={t('bulk.hide')}
              onClick={onHide}
            >
              <Icon name="close" size={14} />
            </Button>
          )}
        </span>
      </Row>
      {state === 'RUNNING' && (
        <Bar
          share={share}
          role="progressbar"
          aria-label={name}
          aria-valuenow={share}
          aria-valuemin={0}
          aria-valuemax={100}
        />
      )}
      {problem !== null && (
        <Small as="p">
          {t('bulk.problem')} <ServerWords text={problem} />
        </Small>
      )}
    </div>
  );
}
