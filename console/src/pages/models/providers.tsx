import { useQuery } from '@apollo/client/react';
import type { ReactNode } from 'react';

import { type BindingPartsFragment, ProvidersDocument } from '../../api/operations.ts';
import { Icon } from '../../parts/icons.tsx';
import { Problem } from '../../parts/problem.tsx';
import { SandboxTag } from '../../parts/sandbox-tag.tsx';
import { SettingNames } from '../../parts/setting-names.tsx';
import { t } from '../../text/text.ts';
import { BindingCard } from './binding-card.tsx';
import { stateOf } from './binding-state.ts';
import { ComfyServers } from './comfy-servers.tsx';
import { PauseButton } from './pause-button.tsx';

const POLL_MS = 5_000;

/**
 * How the providers do, for administrators: what is broken first, then what works, then what has settings missing. What
 * follows waits for it, so that nothing is pushed down.
 */
export function Providers({ children }: { readonly children: ReactNode }) {
  const { data, error } = useQuery(ProvidersDocument, {
    pollInterval: POLL_MS,
    fetchPolicy: 'cache-and-network',
  });
  if (data === undefined) {
    return (
      error !== undefined && (
        <>
          <Problem error={error} />
          {children}
        </>
      )
    );
  }
  const bindings = data.providerHealth;
  const shown = bindings.filter(isShown).toSorted((one, other) => urgency(other) - urgency(one));
  const troubled = shown.filter((binding) => urgency(binding) > 0).length;
  const missing = data.health?.generators.filter(({ state }) => state === 'not available') ?? [];
  return (
    <>
      {troubled > 0 && (
        <div className="note warn" role="status">
          <Icon name="warning" />
          <p className="grow">{t('providers.attention', { count: troubled, all: shown.length })}</p>
        </div>
      )}
      {shown.length > 0 && (
        <section className="pgrid" aria-label={t('providers.bindings')}>
          {shown.map((binding) => (
            <BindingCard key={binding.binding} binding={binding} />
          ))}
        </section>
      )}
      <Resting bindings={bindings.filter((binding) => !isShown(binding))} />
      {missing.length > 0 && <Missing generators={missing} />}
      <ComfyServers servers={data.comfyServers} />
      {children}
    </>
  );
}

/** Real ones always; those of the sandbox when something has happened. */
function isShown(binding: BindingPartsFragment): boolean {
  const { sandbox, attempts, waiting, open, paused } = binding;
  return !sandbox || attempts + waiting + open > 0 || paused !== null || urgency(binding) > 0;
}

function urgency(binding: BindingPartsFragment): number {
  return { away: 3, asked: 2, paused: 1, sandbox: 0, healthy: 0 }[stateOf(binding)];
}

function Resting({ bindings }: { readonly bindings: readonly BindingPartsFragment[] }) {
  if (bindings.length === 0) return null;
  return (
    <section className="card">
      <header>
        <h2>{t('providers.resting')}</h2>
        <span className="c12 faint">{t('providers.restingText')}</span>
      </header>
      <div className="scroll" tabIndex={0} role="region" aria-label={t('providers.resting')}>
        <table className="stack">
          <thead>
            <tr>
              <th>{t('task.provider')}</th>
              <th>{t('providers.binding')}</th>
              <th>{t('providers.settings')}</th>
              <th>
                <span className="vh">{t('task.actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {bindings.map((binding) => (
              <tr key={binding.binding}>
                <td className="med">
                  {binding.provider} {binding.sandbox && <SandboxTag />}
                </td>
                <td className="mono">{binding.binding}</td>
                <td className="settings">
                  <SettingNames text={binding.settings} />
                </td>
                <td className="num act">
                  <PauseButton binding={binding} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Missing({
  generators,
}: {
  readonly generators: readonly { readonly generator: string; readonly setting: string | null }[];
}) {
  return (
    <section className="card">
      <header>
        <h2>{t('providers.missing')}</h2>
        <span className="c12 faint num">{generators.length}</span>
      </header>
      <table className="stack">
        <thead>
          <tr>
            <th>{t('task.generator')}</th>
            <th>{t('providers.settings')}</th>
          </tr>
        </thead>
        <tbody>
          {generators.map(({ generator, setting }) => (
            <tr key={generator}>
              <td className="mono">{generator}</td>
              <td className="settings">
                {setting === null ? t('providers.administrators') : <SettingNames text={setting} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
