import { useMutation } from '@apollo/client/react';

import { CloseMachineDocument, MachinesDocument, OpenMachineDocument } from '../../api/documents/machines.ts';
import { Button } from '../../parts/looks/button.tsx';
import { problemText } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import type { Machine } from './machine.ts';

/** Gives a machine no new work, in either way, or work again. */
export function CloseButtons({ machine: { address, closed } }: { readonly machine: Machine }) {
  const options = { refetchQueries: [MachinesDocument] };
  const [close, closing] = useMutation(CloseMachineDocument, options);
  const [open, opening] = useMutation(OpenMachineDocument, options);
  const error = closing.error ?? opening.error;
  const isBusy = closing.loading || opening.loading;
  const set = (state: 'DRAINING' | 'PAUSED') =>
    void close({ variables: { id: address, state } }).catch(() => undefined);
  return (
    <>
      {error !== undefined && (
        <span className="text-failed" role="alert">
          {problemText(error)}
        </span>
      )}
      {closed !== null && (
        <Button
          kind="primary"
          size="small"
          disabled={isBusy}
          aria-label={`${t('machines.open')} ${address}`}
          onClick={() => void open({ variables: { id: address } }).catch(() => undefined)}
        >
          {t('machines.open')}
        </Button>
      )}
      {closed?.state !== 'DRAINING' && (
        <Button
          kind="ghost"
          size="small"
          disabled={isBusy}
          title={t('machines.drainText')}
          aria-label={`${t('machines.drain')} ${address}`}
          onClick={() => set('DRAINING')}
        >
          {t('machines.drain')}
        </Button>
      )}
      {closed?.state !== 'PAUSED' && (
        <Button
          kind="ghost"
          size="small"
          disabled={isBusy}
          title={t('machines.pauseText')}
          aria-label={`${t('machines.pause')} ${address}`}
          onClick={() => set('PAUSED')}
        >
          {t('machines.pause')}
        </Button>
      )}
    </>
  );
}
