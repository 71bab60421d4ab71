import { useQuery } from '@apollo/client/react';
import { useMemo } from 'react';

import { ProviderHoursDocument, ProvidersDocument } from '../../api/documents/models.ts';
import type { ModelsQuery, ProvidersQuery } from '../../api/documents/operations.ts';
import { SettingNames } from '../../parts/facts.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Figures } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Note } from '../../parts/looks/panels.tsx';
import { FiguresCell, FiguresHead, TableFrame } from '../../parts/looks/table.tsx';
import { useIncrementalCount } from '../../parts/page/later.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Bar } from '../../parts/task/progress.tsx';
import { StateMark } from '../../parts/task/state.tsx';
import { t } from '../../text/text.ts';
import { readState, byProvider } from './by-provider.ts';
import { ProviderCard } from './provider-card.tsx';

type Model = ModelsQuery['models'][number];

const POLL_MS = 5_000;
const DAY_POLL_MS = 60_000;
const NONE: readonly [] = [];

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
  // Nothing else shows them: the cache would take each answer apart, and put it together again, every few seconds.
  const { data, error } = useQuery(ProvidersDocument, {
    pollInterval: POLL_MS,
    fetchPolicy: 'no-cache',
    skip: !isAdministrator,
  });
  const { data: day } = useQuery(ProviderHoursDocument, {
    pollInterval: DAY_POLL_MS,
    fetchPolicy: 'no-cache',
    skip: !isAdministrator,
  });
  const all = data?.providerHealth ?? [];
  const troubled = all.filter((binding) => ['away', 'asked', 'paused'].includes(readState(binding))).length;
  const missing = data?.health?.generators.filter(({ state }) => state === 'not available') ?? [];
  // The same ones in each turn, so that a card is drawn once.
  const groups = useMemo(() => {
    const sought = new Set(models.map(({ provider }) => provider));
    const bindings = data?.providerHealth ?? [];
    return byProvider(models, isFinding ? bindings.filter(({ provider }) => sought.has(provider)) : bindings);
  }, [models, data, isFinding]);
  const isKnown = !isAdministrator || data !== undefined || error !== undefined;
  // Counted from when they are drawn: while they wait, all turns would pass.
  const shown = useIncrementalCount(isKnown ? groups.length : 0, 1);
  if (!isKnown) return null;
  const isWhole = shown >= groups.length;
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
        {groups.slice(0, shown).map((group) => (
          <ProviderCard
            key={group.provider}
            group={group}
            hours={isAdministrator && data !== undefined ? (day?.providerHours ?? NONE) : null}
            isFinding={isFinding}
          />
        ))}
      </section>
      {isWhole && missing.length > 0 && !isFinding && <Missing generators={missing} />}
      {isWhole && <ComfyServers servers={data?.comfyServers ?? []} />}
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
      <CardHead title={t('providers.missing')}>
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

type Server = ProvidersQuery['comfyServers'][number];

/** The ComfyUI servers and how busy each is. */
function ComfyServers({ servers }: { readonly servers: readonly Server[] }) {
  if (servers.length === 0) return null;
  return (
    <Card>
      <CardHead title={t('providers.comfy')}>
        <Figures tone="faint" small>
          {servers.length}
        </Figures>
      </CardHead>
      <TableFrame label={t('providers.comfy')}>
        <table>
          <thead>
            <tr>
              <th>{t('providers.state')}</th>
              <th>{t('providers.address')}</th>
              <th>{t('providers.load')}</th>
              <FiguresHead>{t('providers.running')}</FiguresHead>
              <FiguresHead>{t('providers.waiting')}</FiguresHead>
            </tr>
          </thead>
          <tbody>
            {servers.map((server) => (
              <tr key={`${server.binding} ${server.address}`}>
                <td>
                  <StateMark look={server.up ? 'SUCCEEDED' : 'FAILED'}>
                    {t(server.up ? 'providers.up' : 'providers.down')}
                  </StateMark>
                </td>
                <td className="font-mono [font-size:12px]">{server.address}</td>
                <td>
                  <Load server={server} />
                </td>
                <FiguresCell>{server.running ?? '–'}</FiguresCell>
                <FiguresCell>{server.pending ?? '–'}</FiguresCell>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}

function Load({ server: { running, pending, capacity } }: { readonly server: Server }) {
  const most = capacity ?? 0;
  const held = Math.min(most, (running ?? 0) + (pending ?? 0));
  return (
    <Bar
      share={most === 0 ? 0 : (held / most) * 100}
      fill="bg-muted"
      role="img"
      aria-label={t('providers.of', { count: held, most })}
    />
  );
}
