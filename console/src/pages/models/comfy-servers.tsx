import type { ProvidersQuery } from '../../api/documents/operations.ts';
import { Card, CardHead } from '../../parts/page/panels.tsx';
import { Bar } from '../../parts/task/progress.tsx';
import { StateMark } from '../../parts/task/state.tsx';
import { t } from '../../text/text.ts';

type Server = ProvidersQuery['comfyServers'][number];

/** The ComfyUI servers and how busy each is. */
export function ComfyServers({ servers }: { readonly servers: readonly Server[] }) {
  if (servers.length === 0) return null;
  return (
    <Card>
      <CardHead>
        <h2>{t('providers.comfy')}</h2>
        <span className="text-right whitespace-nowrap text-faint text-12 font-normal tabular-nums">
          {servers.length}
        </span>
      </CardHead>
      <div className="relative overflow-x-auto" tabIndex={0} role="region" aria-label={t('providers.comfy')}>
        <table>
          <thead>
            <tr>
              <th>{t('providers.state')}</th>
              <th>{t('providers.address')}</th>
              <th>{t('providers.load')}</th>
              <th className="text-right whitespace-nowrap tabular-nums">{t('providers.running')}</th>
              <th className="text-right whitespace-nowrap tabular-nums">{t('providers.waiting')}</th>
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
                <td className="text-right whitespace-nowrap tabular-nums">{server.running ?? '–'}</td>
                <td className="text-right whitespace-nowrap tabular-nums">{server.pending ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
