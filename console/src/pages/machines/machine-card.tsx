import { useMutation } from '@apollo/client/react';

import { CloseMachineDocument, MachinesDocument, OpenMachineDocument } from '../../api/documents/machines.ts';
import type { MachinesQuery } from '../../api/documents/operations.ts';
import { Fact, FactList } from '../../parts/facts.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { Card, CardHead } from '../../parts/looks/panels.tsx';
import { problemText } from '../../parts/problem.tsx';
import { StateMark } from '../../parts/task/state.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';

/** A machine of the pool. */
type Machine = MachinesQuery['comfyServers'][number];

type Facts = NonNullable<Machine['facts']>;

const GIB = 2 ** 30;

/** One machine: its queue, memory, versions, models, node classes and last failures. */
export function MachineCard({ machine }: { readonly machine: Machine }) {
  const { address, binding, up, closed, facts } = machine;
  const state = up ? (closed === null ? 'SUCCEEDED' : 'QUEUED') : 'FAILED';
  return (
    <Card>
      <CardHead>
        <h2 className="font-mono [font-size:12px]">{address}</h2>
        <StateMark look={state}>{stateText(machine)}</StateMark>
        <span className="text-faint text-12 font-normal">{binding}</span>
        <Row as="span" wrap className="ml-auto">
          <CloseButtons machine={machine} />
        </Row>
      </CardHead>
      <div className="p-4 flex flex-col gap-3 min-w-0">
        {closed !== null && closed.reason !== '' && <p>{closed.reason}</p>}
        <FactList className="max-w-140">
          <Fact name={t('machines.queue')}>{queueText(machine)}</Fact>
          {facts !== null && <MachineFacts facts={facts} />}
        </FactList>
        {facts !== null && <Details facts={facts} />}
      </div>
    </Card>
  );
}

function stateText({ up, closed, running, pending }: Machine): string {
  if (!up) return t('machines.down');
  if (closed === null) return t('machines.takes');
  if (closed.state === 'PAUSED') return t('machines.paused');
  return t((running ?? 0) + (pending ?? 0) === 0 ? 'machines.drained' : 'machines.draining');
}

function queueText({ running, pending }: Machine): string {
  if (running === null || pending === null) return t('machines.unknown');
  return t('machines.queueText', { running, pending });
}

function MachineFacts({ facts: { versions, devices, loaded } }: { readonly facts: Facts }) {
  const programs = Object.entries(versions as Readonly<Record<string, string>>);
  return (
    <>
      {devices.map(({ name, type, totalBytes, freeBytes }) => (
        <Fact key={name} name={t('machines.memory')}>
          {`${name} (${type}): ${t('machines.free', { free: gib(freeBytes), total: gib(totalBytes) })}`}
        </Fact>
      ))}
      <Fact name={t('machines.versions')}>{programs.map((one) => one.join(' ')).join(', ')}</Fact>
      <Fact name={t('machines.loaded')}>{loaded.join(', ') || t('machines.nothing')}</Fact>
    </>
  );
}

function gib(bytes: number | null): string {
  return bytes === null ? '?' : (bytes / GIB).toFixed(1);
}

const SUMMARY = 'cursor-pointer font-medium';

function Details({ facts: { models, classes, errors } }: { readonly facts: Facts }) {
  const files = new Set(models.flatMap((one) => one.files));
  return (
    <>
      <details>
        <summary className={SUMMARY}>{t('machines.models', { count: files.size })}</summary>
        <ul>
          {models.map(({ loader, files: own }) => (
            <li key={loader}>
              <b>{loader}</b> {own.join(', ')}
            </li>
          ))}
        </ul>
      </details>
      <details>
        <summary className={SUMMARY}>{t('machines.classes', { count: classes.length })}</summary>
        <p className="text-12 font-normal">{classes.join(', ')}</p>
      </details>
      {errors.length > 0 && (
        <details open>
          <summary className={SUMMARY}>{t('machines.errors', { count: errors.length })}</summary>
          <ul>
            {errors.map(({ at, node, message }) => (
              <li key={`${at} ${node} ${message}`}>
                {at !== null && <Ago at={at} />} {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Gives a machine no new work, in either way, or work again. */
function CloseButtons({ machine: { address, closed } }: { readonly machine: Machine }) {
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
