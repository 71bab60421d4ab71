import { useQuery, useSubscription } from '@apollo/client/react';
import { useRef } from 'react';

import {
  ExecutionEventsDocument,
  ExecutionPageDocument,
  type ExecutionStatus,
} from '../../../api/operations.ts';

/** Whether an execution has ended. */
export function isOver(status: ExecutionStatus): boolean {
  return status !== 'PENDING' && status !== 'RUNNING';
}

/**
 * Loads an execution by its task's id, which its buyer knows also without an account, and follows its log until it ends.
 * After a lost connection the server replays what was missed. Its steps and payment are no part of the log: they are asked
 * for again with every new stage.
 */
export function useExecution(taskId: string) {
  const { data, error, refetch } = useQuery(ExecutionPageDocument, {
    variables: { taskId },
    fetchPolicy: 'cache-and-network',
  });
  const execution = data?.execution;
  const seen = useRef('');
  useSubscription(ExecutionEventsDocument, {
    variables: { id: execution?.id ?? '', afterSeq: execution?.task?.lastSeq ?? 0 },
    skip: execution === undefined || execution === null || isOver(execution.status),
    // A new lastSeq with every answer must not start a new subscription.
    shouldResubscribe: false,
    onData({ data: { data: event } }) {
      if (event === undefined) return;
      const { status, stage } = event.executionProgress;
      if (seen.current === `${status} ${stage}`) return;
      seen.current = `${status} ${stage}`;
      refetch().catch(() => undefined);
    },
  });
  return { execution, error };
}
