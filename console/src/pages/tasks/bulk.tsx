import { useMutation, useQuery } from '@apollo/client/react';
import { useState, useEffect } from 'react';

import type { TaskFilter, TaskState, BulkPartsFragment } from '../../api/documents/operations.ts';
import {
  BulkOperationsDocument,
  CancelTasksDocument,
  CountTasksDocument,
  RestartTasksDocument,
  StopBulkOperationDocument,
} from '../../api/documents/tasks.ts';
import { Modal } from '../../parts/controls/modal.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { Card } from '../../parts/looks/panels.tsx';
import { Problem, ServerWords } from '../../parts/problem.tsx';
import { Bar } from '../../parts/task/progress.tsx';
import { t } from '../../text/text.ts';

/** What can be done to all that match, and the states that each is for. */
const ACTIONS = {
  cancel: ['QUEUED', 'RUNNING'],
  retry: ['FAILED'],
  again: ['SUCCEEDED', 'FAILED', 'CANCELLED'],
} as const satisfies Readonly<Record<string, readonly TaskState[]>>;

type Action = keyof typeof ACTIONS;

/** Cancels, retries or repeats every task that the filters let in, on whichever page of the list it is. */
export function BulkButtons({ filter }: { readonly filter: TaskFilter }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const all = Object.keys(ACTIONS) as readonly Action[];
  const possible = all.filter((action) => listStates(action, filter).length > 0);
  return (
    <>
      {possible.map((action) => (
        <Button key={action} kind="ghost" size="small" onClick={() => setAsked(action)}>
          <Icon name={action === 'cancel' ? 'close' : 'again'} size={14} />
          {t(`bulk.${action}`)}
        </Button>
      ))}
      {asked !== null && <BulkDialog action={asked} filter={filter} onClose={() => setAsked(null)} />}
    </>
  );
}

/** The states of an action that the filter lets in. */
function listStates(action: Action, { states }: TaskFilter): readonly TaskState[] {
  return ACTIONS[action].filter((state) => states?.includes(state) ?? true);
}

interface BulkDialogProps {
  readonly action: Action;
  readonly filter: TaskFilter;
  readonly onClose: () => void;
}

/** Says how many it is before anything is done. */
function BulkDialog({ action, filter, onClose }: BulkDialogProps) {
  const matching: TaskFilter = { ...filter, states: [...listStates(action, filter)] };
  const { data, error } = useQuery(CountTasksDocument, {
    variables: { filter: matching },
    fetchPolicy: 'network-only',
  });
  const after = { refetchQueries: [BulkOperationsDocument], awaitRefetchQueries: true };
  const [begin, begun] = useMutation(action === 'cancel' ? CancelTasksDocument : RestartTasksDocument, after);
  const count = data?.tasks.totalCount ?? null;
  const start = () => void begin({ variables: { filter: matching } }).then(onClose, () => undefined);
  const problem = error ?? begun.error;
  return (
    <Modal
      title={t(`bulk.${action}Title`)}
      onClose={onClose}
      foot={
        <Button
          kind={action === 'cancel' ? 'bad' : 'primary'}
          disabled={count === null || count === 0 || begun.loading}
          onClick={start}
        >
          {t(`bulk.${action}Many`, { count: count ?? 0 })}
        </Button>
      }
    >
      <p>{t(`bulk.${action}Text`)}</p>
      {count === 0 && <p className="text-muted">{t('bulk.none')}</p>}
      {problem !== undefined && <Problem error={problem} />}
    </Modal>
  );
}

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
            <Button kind="ghost" size="small" icon label={t('bulk.hide')} onClick={onHide}>
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
