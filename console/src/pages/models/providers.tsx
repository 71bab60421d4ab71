import { useQuery } from '@apollo/client/react';

import { ProviderHoursDocument, ProvidersDocument } from '../../api/documents/models.ts';
import type { ModelsQuery } from '../../api/documents/operations.ts';
import { Icon } from '../../parts/icons.tsx';
import { Figures } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Note } from '../../parts/looks/panels.tsx';
import { Problem } from '../../parts/problem.tsx';
import { SettingNames } from '../../parts/setting-names.tsx';
import { t } from '../../text/text.ts';
import { stateOf } from './binding-state.ts';
import { barsOf, byProvider, type ProviderGroup } from './by-provider.ts';
import { ComfyServers } from './comfy-servers.tsx';
import { ProviderCard } from './provider-card.tsx';

type Model = ModelsQuery['models'][number];

const POLL_MS = 5_000;
const DAY_POLL_MS = 60_000;

interface ProvidersProps {
  readonly models: readonly Model[];
  /** Whether models are looked for: only their providers are shown then. */
  readonly isFinding: boolean;
  readonly isAdministrator: boolean;
}

/**
 * One card for each provider: those that need somebody first. Administrators see how they do as well, and what has settings
 * missing; their cards wait for that, so that nothing moves when it comes.
 */
export function Providers({ models, isFinding, isAdministrator }: ProvidersProps) {
  const { data, error } = useQuery(ProvidersDocument, {
    pollInterval: POLL_MS,
    fetchPolicy: 'cache-and-network',
    skip: !isAdministrator,
  });
  const { data: day } = useQuery(ProviderHoursDocument, {
    pollInterval: DAY_POLL_MS,
    fetchPolicy: 'cache-and-network',
    skip: !isAdministrator,
  });
  if (isAdministrator && data === undefined && error === undefined) return null;
  const all = data?.providerHealth ?? [];
  const sought = new Set(models.map(({ provider }) => provider));
  const bindings = isFinding ? all.filter(({ provider }) => sought.has(provider)) : all;
  const troubled = all.filter((binding) => ['away', 'asked', 'paused'].includes(stateOf(binding))).length;
  const missing = data?.health?.generators.filter(({ state }) => state === 'not available') ?? [];
  const now = Date.now();
  const barsFor = ({ bindings: own }: ProviderGroup) =>
    barsOf(
      day?.providerHours ?? [],
      own.map(({ binding }) => binding),
      now,
    );
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {troubled > 0 && (
        <Note tone="warn" role="status">
          <Icon name="warning" />
          <p className="flex-1 min-w-0">{t('providers.attention', { count: troubled, all: all.length })}</p>
        </Note>
      )}
      <section
        className="grid grid-cols-[repeat(auto-fill,minmax(min(340px,100%),1fr))] items-start gap-4"
        aria-label={t('task.provider')}
      >
        {byProvider(models, bindings).map((group) => (
          <ProviderCard
            key={group.provider}
            group={group}
            bars={isAdministrator && data !== undefined ? barsFor(group) : null}
            isFinding={isFinding}
          />
        ))}
      </section>
      {missing.length > 0 && !isFinding && <Missing generators={missing} />}
      <ComfyServers servers={data?.comfyServers ?? []} />
    </>
  );
}

/** On phones a row is a block: the name, and below it the settings. */
const CELL = 'max-sm:block max-sm:h-auto max-sm:border-0! max-sm:p-0! max-sm:wrap-anywhere';

function Missing({
  generators,
}: {
  readonly generators: readonly { readonly generator: string; readonly setting: string | null }[];
}) {
  return (
    <Card>
      <CardHead>
        <h2>{t('providers.missing')}</h2>
        <Figures tone="faint" small>
          {generators.length}
        </Figures>
      </CardHead>
      <table className="max-sm:block">
        <thead className="max-sm:hidden">
          <tr>
            <th>{t('task.generator')}</th>
            <th>{t('providers.settings')}</th>
          </tr>
        </thead>
        <tbody className="max-sm:block">
          {generators.map(({ generator, setting }) => (
            <tr
              key={generator}
              className="border-line max-sm:flex max-sm:flex-col max-sm:gap-y-1 max-sm:border-b max-sm:px-4 max-sm:py-2"
            >
              <td className={`font-mono [font-size:12px] ${CELL}`}>{generator}</td>
              <td className={`max-sm:[&_code]:h-auto max-sm:[&_code]:whitespace-normal ${CELL}`}>
                {setting === null ? t('providers.administrators') : <SettingNames text={setting} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
