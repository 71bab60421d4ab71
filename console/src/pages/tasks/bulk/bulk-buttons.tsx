import { useMutation, useQuery } from '@apollo/client/react';
import { useState } from 'react';

import type { TaskFilter, TaskState } from '../../../api/documents/operations.ts';
import {
  BulkOperationsDocument,
  CancelTasksDocument,
  CountTasksDocument,
  RestartTasksDocument,
} from '../../../api/documents/tasks.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';

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
  const possible = all.filter((action) => statesOf(action, filter).length > 0);
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
function statesOf(action: Action, { states }: TaskFilter): readonly TaskState[] {
  return ACTIONS[action].filter((state) => states?.includes(state) ?? true);
}

interface BulkDialogProps {
  readonly action: Action;
  readonly filter: TaskFilter;
  readonly onClose: () => void;
}

/** Says how many it is before anything is done. */
function BulkDialog({ action, filter, onClose }: BulkDialogProps) {
  const matching: TaskFilter = { ...filter, states: [...statesOf(action, filter)] };
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
